// Reads an archive from its beginning, in windows: entries of usual size come with their bytes, of large ones the place
// is told. Heads are bounded, so that no archive can ask for more memory than some windows.
//
// Threads: one at a time; what it gave away stays valid, and is read by any.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/sys/tree.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/copy/file_data.hpp"

namespace forebay::archive {

/// Stored bytes of more are not read with their head.
inline constexpr std::uint64_t read_together_max = 256u << 10;

struct FoundMember {
    Member member;
    std::uint64_t offset = 0;         // of its head
    std::uint64_t stored_offset = 0;  // of its bytes
    std::shared_ptr<const Records> common;
    std::shared_ptr<const std::byte[]> window{};
    std::span<const std::byte> stored{};  // all of it, or nothing where there is more than one reads together

    bool is_large() const { return member.stored_bytes > stored.size(); }
    /// In memory its head takes up to ten times as much as in the archive: at most two such are held at a time.
    bool has_large_head() const { return stored_offset - offset + member.map_bytes > read_together_max; }
};

class ArchiveReader {
public:
    /// `way` says how fast, and when to stop.
    ArchiveReader(sys::OpenFile& file, std::uint64_t file_bytes, tree::DataWay way);

    /// Nothing at the end, where an archive of ours has proved to be whole; one of others ends with zeros, behind which
    /// nothing else may lie. `corrupt` names the offset, and the entry before it.
    Result<std::optional<FoundMember>> next();
    /// The one whose head is there; it was found before.
    Result<FoundMember> read_at(std::uint64_t offset, std::shared_ptr<const Records> common);
    /// Whether it is an archive of ours, in which no two entries have one path. Any thread may ask.
    bool is_ours() const { return is_ours_; }

private:
    Result<> fill(std::uint64_t least);
    Result<> take_place(const DecodedHead& decoded);
    Result<> check_end(std::uint64_t behind) const;
    Result<std::uint64_t> first_byte_from(std::uint64_t offset) const;
    Error located(Error error) const;
    Result<FoundMember> take(DecodedHead decoded);

    sys::OpenFile& file_;
    const std::uint64_t file_bytes_;
    const tree::DataWay way_;
    HeadState state_;
    std::atomic<bool> is_ours_{false};
    std::uint64_t offset_ = 0;  // of the next head
    EntrySum entries_;          // that were read
    bool has_last_ = false;
    Result<> all_are_there_;  // as the last one says
    std::string last_path_;
    std::shared_ptr<const std::byte[]> window_;
    std::uint64_t window_offset_ = 0, window_bytes_ = 0, window_least_;
};

}  // namespace forebay::archive
