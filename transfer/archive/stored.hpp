// Which bytes of a file are stored: all of them, or of a file with holes its data, behind a map that says where it lies
// (GNU.sparse.1.0, which GNU tar and libarchive read).

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/archive/member.hpp"

namespace forebay::archive {

/// Sets what `member` has of its bytes, by the size and allocation of its status. Data is stored in whole blocks.
Result<> find_stored(sys::OpenFile& file, Member& member);
/// The map of a member with holes, in whole blocks; empty of one without.
std::string map_of(const Member& member);

/// "2\n0\n4096\n8192\n4096\n" from the first stored blocks, of which `bytes` holds some. Nothing where more of them are
/// needed; `corrupt` where it is no map, or more than `size` bytes.
struct SparseMap {
    std::vector<StoredStretch> stretches;
    std::uint64_t bytes = 0;  // in whole blocks
};
Result<std::optional<SparseMap>> map_from(std::span<const std::byte> bytes, std::uint64_t file_bytes);

/// Adds (begin, begin + bytes) behind those of `stretches`; `corrupt` where it does not lie behind them, within a file.
Result<> add_stretch(std::vector<StoredStretch>& stretches, std::uint64_t begin, std::uint64_t bytes,
                     std::uint64_t file_bytes);

/// The parts of [begin, end) of what is stored behind the map, each with where it lies in the file.
std::vector<StoredStretch> parts_of(const Member& member, std::uint64_t begin, std::uint64_t end);

}  // namespace forebay::archive
