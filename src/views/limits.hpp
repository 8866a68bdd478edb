// The limits of views, each with its reason.

#pragma once

#include <cstdint>

namespace forebay::views {

// A reader keeps every node file open that it touched, and HDF5 gives fill values without an error when descriptors run
// out. A process may open 1024 files on most machines; a hundred stay for the reader's own.
inline constexpr std::uint32_t views_sources_max = 900;

// A mapping costs a reader 60 bytes of the view and some 10 us when it opens the variable; a million make a view of 60
// MB.
inline constexpr std::uint64_t views_mappings_max = 1'000'000;

// Replicated values up to this size are copied into the view, so that it says them without any node file; larger ones
// are shown from the first node file.
inline constexpr std::uint64_t views_copied_bytes_max = 1u << 20;

// Groups of a file that people made are a few deep; links in a circle have no end.
inline constexpr int walk_depth_max = 32;

// Each object is opened once when a file is looked at, which takes some 20 us.
inline constexpr std::uint64_t walk_objects_max = 1'000'000;

// Attributes that are read as numbers are positions, spacings and the like.
inline constexpr std::uint64_t attribute_numbers_max = 1024;

// Of a dataset that is read to see whether it can be.
inline constexpr std::uint64_t foreign_window_bytes = 8u << 20;

// One row of more, along the slowest dimension, is no data that a simulation wrote.
inline constexpr std::uint64_t foreign_row_bytes_max = 4ull << 30;

}  // namespace forebay::views
