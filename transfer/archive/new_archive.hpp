// An archive in the making: a file under a temporary name beside its own, to which all threads write.
//
// Life:    make() -> reserve(), write(), count() ... -> end_with() -> complete() -> publish(); without it the file goes
//          with its object
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
    /// `refused` where `path` is there, unless it `replaces` it, and where another process makes the same.
    static Result<std::unique_ptr<NewArchive>> make(const std::string& path, bool replaces);

    /// The place of so many bytes, which nobody else gets; whole blocks. What is not written is zeros.
    std::uint64_t reserve(std::uint64_t bytes) { return end_.fetch_add(bytes); }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// What was reserved there is of no use: readers pass over it. `again`: see encode_skipped().
    Result<> pass_over(std::uint64_t offset, std::uint64_t bytes, const Head& again);
    /// The entry whose head has this checksum is written there.
    void count(std::uint64_t place, std::uint32_t head_sum);
    /// The last entry: says in its head what lies before it. All others are written.
    Result<> end_with(Member member);

    /// Whether an entry of the source is this archive, or the one that it replaces.
    bool is(const sys::EntryId& id) const { return id == id_ || (replaced_ && id == replaced_->id); }
    bool replaces_another() const { return replaced_.has_value(); }
    sys::OpenFile& file() { return *file_; }

    /// All is written: the end is, too, and with `syncs` everything is on storage.
    Result<> complete(bool syncs);
    Result<> publish(bool syncs);

private:
    NewArchive(tree::FolderRef folder, std::string name, std::string temporary)
        : folder_(std::move(folder)), name_(std::move(name)), temporary_(*folder_, std::move(temporary)) {}
    Result<> check_name();
    Result<> set_permissions();

    tree::FolderRef folder_;
    std::string name_;
    bool replaces_ = false;  // a file of its name
    std::unique_ptr<sys::OpenFile> file_;
    tree::TemporaryName temporary_;
    sys::EntryId id_;
    std::optional<sys::EntryStatus> replaced_;
    std::atomic<std::uint64_t> end_{0};
    std::mutex mutex_;  // guards what follows
    EntrySum entries_;
};

}  // namespace forebay::archive
