// The limits for examining HDF5 files, each with its reason.

#pragma once

#include <cstdint>

namespace forebay::h5 {

// Groups in files of people are a few deep. Each open group takes memory, and less than 1 KiB of the stack.
inline constexpr int walk_depth_max = 1024;

// Each object is opened once, in some 20 us.
inline constexpr std::uint64_t walk_objects_max = 1'000'000;

// Attributes read as numbers are positions, spacings and similar.
inline constexpr std::uint64_t attribute_numbers_max = 1024;

}  // namespace forebay::h5
