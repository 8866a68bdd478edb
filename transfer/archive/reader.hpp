// Reads an archive from its beginning in windows. Small entries come with their bytes, large entries with their place.
// Heads are bounded, so no archive can demand more memory than a few windows.
//
// Threads: one at a time. Returned members stay valid and may be read by any thread.

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

/// Entries with more stored bytes come without their bytes.
inline constexpr std::uint64_t read_together_max = 256u << 10;

struct FoundMember {
    Member member;
    std::uint64_t offset = 0;         // offset of its head
    std::uint64_t stored_offset = 0;  // offset of its bytes
    std::shared_ptr<const Records> common;
    std::shared_ptr<const std::byte[]> window{};
    std::span<const std::byte> stored{};  // all bytes, or nothing if there are more than read_together_max

    bool is_large() const { return member.stored_bytes > stored.size(); }
    /// In memory its head takes up to ten times its size in the archive. At most two such heads are held at a time.
    bool has_large_head() const { return stored_offset - offset + member.map_bytes > read_together_max; }
};

class ArchiveReader {
public:
    /// `way` sets the rate and stops the reading.
    ArchiveReader(sys::OpenFile& file, std::uint64_t file_bytes, tree::DataWay way);

    /// The next entry, or nothing at the end. Our archives must prove there that they are whole; other archives end
    /// with zeros and nothing after them. The text of a `corrupt` error has the offset and the entry before it.
    Result<std::optional<FoundMember>> next();
    /// Reads an entry again; `offset` is the place of its head.
    Result<FoundMember> read_at(std::uint64_t offset, std::shared_ptr<const Records> common);
    /// True for our archives: no two of their entries have one path. Threads: any.
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
    EntrySum entries_;          // of the entries read
    bool has_last_ = false;
    Result<> all_are_there_;  // result of the check against the last entry
    std::string last_path_;
    std::shared_ptr<const std::byte[]> window_;
    std::uint64_t window_offset_ = 0, window_bytes_ = 0, window_least_;
};

}  // namespace forebay::archive
