// The limits of reading HDF5 files that others wrote, each with its reason.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::foreign {

// The most bytes of a dataset that are read at once.
inline constexpr std::uint64_t foreign_window_bytes = 8u << 20;

// A chunk takes its filters each time it is read, unless it stays in memory: those that are larger than the window are
// read in several boxes.
inline constexpr std::size_t foreign_chunk_cache_bytes = 32u << 20;

// No element that a simulation writes is larger; one is read at once.
inline constexpr std::uint64_t foreign_element_bytes_max = 256u << 20;

// A dataset of which less than one 16th is stored is read chunk by chunk: the rest is fill values, maybe petabytes.
inline constexpr std::uint64_t foreign_sparse_ratio = 16;

}  // namespace forebay::foreign
