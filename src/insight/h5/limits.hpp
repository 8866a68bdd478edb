// The limits of looking at HDF5 files, each with its reason.

#pragma once

#include <cstdint>

namespace forebay::h5 {

// Groups of a file that people made are a few deep; each open one takes memory, and less than 1 KiB of the stack.
inline constexpr int walk_depth_max = 1024;

// Each object is opened once when a file is looked at, which takes some 20 us.
inline constexpr std::uint64_t walk_objects_max = 1'000'000;

// Attributes that are read as numbers are positions, spacings and the like.
inline constexpr std::uint64_t attribute_numbers_max = 1024;

}  // namespace forebay::h5
