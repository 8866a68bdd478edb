// Heads of entries as tar has them: a block of POSIX's ustar, and before it records of pax for what that block cannot
// hold. docs/formats/archive.md has our own records, which are comments to other programs. Read are the heads of other
// programs too: ustar, pax, GNU tar and what came before.
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

/// A head in the making. Its checksums are not known before the stored bytes and its place are.
struct Head {
    std::string bytes;
    std::size_t sums_at = 0;
};
Head encode_head(const Member& member);
/// The checksum of the stored bytes.
void set_stored_sum(std::span<std::byte> head, std::size_t sums_at, std::uint32_t stored_sum);
/// Where in the archive it lies, and its own checksum, which is returned; this comes last.
std::uint32_t set_place(std::span<std::byte> head, std::size_t sums_at, std::uint64_t place);
/// What an archive of ours begins with.
std::string encode_mark();
/// Whole blocks that every reader passes over, whatever lies in them: the pieces that they need, each with its offset
/// and with what stands at its beginning and at its end. `again` is the head of a folder that comes again later, which
/// may come between: libarchive reads 32 heads without an entry, and no more.
struct SkippedBytes {
    std::uint64_t offset = 0, bytes = 0;
    std::string begin, end;
};
std::vector<SkippedBytes> encode_skipped(std::uint64_t bytes, const std::string& again);

using Records = std::vector<std::pair<std::string, std::string>>;

/// What heads before say of those behind.
struct HeadState {
    bool is_ours = false;
    bool promises_end = false;
    std::shared_ptr<const Records> common{};  // of global records; null: none
    std::uint64_t common_bytes = 0;           // of all that there were, since entries may be read again
};

struct DecodedHead {
    enum class Is { member, end, skipped, cut } is = Is::cut;
    Member member{};
    std::optional<std::uint64_t> place{};     // in the archive, as the head has it
    std::optional<std::uint32_t> head_sum{};  // which it has been compared with
    std::uint64_t bytes = 0;                  // of the head; of `cut` how many there must be to go on
    std::uint64_t stored = 0;  // bytes behind the head, in whole blocks; the next head begins behind them
};
/// The head at the beginning of `bytes`. `cut`: it needs more of them. `skipped`: records alone, or an entry that
/// is none. `corrupt`, `unsupported`.
Result<DecodedHead> decode_head(std::span<const std::byte> bytes, HeadState& state);

/// "a/b" of "./a//b/" and of "/a/b", which means the same below the target as it does to tar; "." of the root.
/// `refused` for no name at all, and for one that leads out of the root.
Result<std::string> clean_path(std::string_view path);

}  // namespace forebay::archive
