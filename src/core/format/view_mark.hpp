// The mark after the HDF5 bytes of a view. It shows programs without HDF5 that Forebay made the file and that no other
// program wrote to it. Bytes: docs/formats/view.md. HDF5 readers ignore it, because the superblock gives the end of
// their part. A program that opens the file with HDF5 for writing cuts the mark off.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::format {

inline constexpr std::uint64_t view_mark_bytes = 38;

/// Returns the mark for a file of `hdf5_bytes` bytes of HDF5.
std::string view_mark(std::uint64_t hdf5_bytes);

/// Returns true if `end` is the mark of a view. `end` is the last view_mark_bytes of a file of `file_bytes`.
bool is_view_mark(std::string_view end, std::uint64_t file_bytes);

}  // namespace forebay::format
