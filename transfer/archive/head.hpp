// Heads of entries in tar's format: a POSIX ustar block, with pax records before it for values that the block cannot
// hold. docs/formats/archive.md describes our own records, which are comments to other programs. The decoder also reads
// ustar, pax, GNU tar and older formats.
//
// Threads: any; pure functions of bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"
#include "transfer/archive/member.hpp"

namespace forebay::archive {

/// A head in the making. Its checksums are set when its stored bytes and its place are known.
struct Head {
    std::string bytes;
    std::size_t sums_at = 0;
};
Head encode_head(const Member& member);
/// Sets the checksum of the stored bytes.
void set_stored_sum(std::span<std::byte> head, std::size_t sums_at, std::uint32_t stored_sum);
/// Sets the place in the archive and the head's own checksum, and returns the checksum. Call it last.
std::uint32_t set_place(std::span<std::byte> head, std::size_t sums_at, std::uint64_t place);
/// The bytes at the beginning of our archives.
std::string encode_mark();
/// Splits `bytes`, whole blocks that every reader must skip whatever they hold, into pieces. Each piece has its offset
/// and the bytes for its begin and end. `again` is the head of a directory that comes again later. It may stand between
/// pieces, because libarchive reads at most 32 heads without an entry.
struct SkippedBytes {
    std::uint64_t offset = 0, bytes = 0;
    std::string begin, end;
};
std::vector<SkippedBytes> encode_skipped(std::uint64_t bytes, const std::string& again);

using Records = std::vector<std::pair<std::string, std::string>>;

/// State from earlier heads for later heads.
struct HeadState {
    bool is_ours = false;
    bool promises_end = false;
    std::shared_ptr<const Records> common{};  // of global records; null: none
    std::uint64_t common_bytes = 0;           // of all common records so far, since entries may be read again
};

struct DecodedHead {
    enum class Is { member, end, skipped, cut } is = Is::cut;
    Member member{};
    std::optional<std::uint64_t> place{};     // place in the archive according to the head
    std::optional<std::uint32_t> head_sum{};  // checked checksum of the head
    std::uint64_t bytes = 0;                  // of the head; for `cut` the number of bytes needed
    std::uint64_t stored = 0;                 // bytes after the head, in whole blocks; the next head follows
};
/// Decodes the head at the beginning of `bytes`. `cut`: it needs more bytes. `skipped`: only records, or nothing to
/// restore. Errors are `corrupt` and `unsupported`.
Result<DecodedHead> decode_head(std::span<const std::byte> bytes, HeadState& state);

/// "a/b" for "./a//b/" and for "/a/b", which tar also restores below the target; "." for the root. Returns `refused`
/// for an empty name and for a path out of the root.
Result<std::string> clean_path(std::string_view path);

}  // namespace forebay::archive
