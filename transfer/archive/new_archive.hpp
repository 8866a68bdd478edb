// An archive in the making: a file under a temporary name beside its final name. All threads write to it.
//
// Life: make() -> reserve(), write(), count() ... -> end_with() -> complete() -> publish(). Without publish() the
// destructor removes the file.
// Threads: reserve(), write(), count() and pass_over() by any.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/sys/tree.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/copy/copy_entry.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::archive {

class NewArchive {
public:
    /// Returns `refused` if `path` exists and `replaces` is false, or if another process makes the same archive.
    static Result<std::unique_ptr<NewArchive>> make(const std::string& path, bool replaces);

    /// Reserves a place for `bytes`, whole blocks, for the caller only. Unwritten bytes are zeros.
    std::uint64_t reserve(std::uint64_t bytes) { return end_.fetch_add(bytes); }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Makes readers skip a reserved place. `again`: see encode_skipped().
    Result<> pass_over(std::uint64_t offset, std::uint64_t bytes, const Head& again);
    /// Counts an entry at `place` with this checksum of its head.
    void count(std::uint64_t place, std::uint32_t head_sum);
    /// Writes the last entry. Its head has the sum of all entries before it, so all must be written.
    Result<> end_with(Member member);

    /// True if a source entry is this archive, or the archive that it replaces.
    bool is(const sys::EntryId& id) const { return id == id_ || (replaced_ && id == replaced_->id); }
    bool replaces_another() const { return replaced_.has_value(); }
    sys::OpenFile& file() { return *file_; }

    /// Call it when all entries are written: writes the end. With `syncs` everything is on storage.
    Result<> complete(bool syncs);
    Result<> publish(bool syncs);

private:
    NewArchive(tree::FolderRef folder, std::string name, std::string temporary)
        : folder_(std::move(folder)), name_(std::move(name)), temporary_(*folder_, std::move(temporary)) {}
    Result<> check_name();
    Result<> set_permissions();

    tree::FolderRef folder_;
    std::string name_;
    bool replaces_ = false;  // may replace a file of its name
    std::unique_ptr<sys::OpenFile> file_;
    tree::TemporaryName temporary_;
    sys::EntryId id_;
    std::optional<sys::EntryStatus> replaced_;
    std::atomic<std::uint64_t> end_{0};
    std::mutex mutex_;  // guards the members below
    EntrySum entries_;
};

}  // namespace forebay::archive
