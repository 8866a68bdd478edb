// The mark behind the HDF5 bytes of a view, by which programs without HDF5 know that Forebay made the file and that
// nobody has written to it since. docs/formats/view.md. Readers of HDF5 go by the superblock, which says where their
// part ends; whoever opens the file for writing cuts off what is behind.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::format {

inline constexpr std::uint64_t view_mark_bytes = 38;

/// What follows `hdf5_bytes` bytes of HDF5.
std::string view_mark(std::uint64_t hdf5_bytes);

/// Whether `end`, the last view_mark_bytes of a file of `file_bytes`, is the mark of a view.
bool is_view_mark(std::string_view end, std::uint64_t file_bytes);

}  // namespace forebay::format
