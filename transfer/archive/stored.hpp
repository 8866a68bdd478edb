// The stored bytes of a file: all of them, or only the data of a file with holes, after a map of the data's places
// (GNU.sparse.1.0, read by GNU tar and libarchive).

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/archive/member.hpp"

namespace forebay::archive {

/// Sets the stored stretches of `member` by its size and allocation. Data is stored in whole blocks.
Result<> find_stored(sys::OpenFile& file, Member& member);
/// The map of a member with holes, in whole blocks; empty without holes.
std::string map_of(const Member& member);

/// Parses a map such as "2\n0\n4096\n8192\n4096\n". `bytes` are the first stored blocks. Returns nothing if it needs
/// more of them, `corrupt` if the map is invalid or exceeds `file_bytes`.
struct SparseMap {
    std::vector<StoredStretch> stretches;
    std::uint64_t bytes = 0;  // in whole blocks
};
Result<std::optional<SparseMap>> map_from(std::span<const std::byte> bytes, std::uint64_t file_bytes);

/// Adds [begin, begin + bytes) to the end of `stretches`. Returns `corrupt` if it overlaps them or exceeds the file.
Result<> add_stretch(std::vector<StoredStretch>& stretches, std::uint64_t begin, std::uint64_t bytes,
                     std::uint64_t file_bytes);

/// The parts of [begin, end) of the bytes after the map, each with its place in the file.
std::vector<StoredStretch> parts_of(const Member& member, std::uint64_t begin, std::uint64_t end);

}  // namespace forebay::archive
