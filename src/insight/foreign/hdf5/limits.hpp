// The limits of reading HDF5 files that others wrote, each with its reason.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::foreign {

// The most bytes of a dataset that are read at once.
inline constexpr std::uint64_t foreign_window_bytes = 8u << 20;

// A chunk takes its filters each time it is read, unless it stays in memory. HDF5 keeps chunks of so many bytes, or one
// chunk if that is larger: HDF5 has it whole in memory anyway while its filters work.
inline constexpr std::size_t foreign_chunk_cache_bytes = 32u << 20;
// HDF5's own limit.
inline constexpr std::uint64_t chunk_bytes_max = (std::uint64_t{1} << 32) - 1;
// All sources of a virtual dataset stay open, each with its own chunks. Together they keep so many bytes, or one chunk.
inline constexpr std::size_t foreign_source_cache_bytes = 256u << 20;

// No element that a simulation writes is larger; one is read at once.
inline constexpr std::uint64_t foreign_element_bytes_max = 256u << 20;

// A dataset of which less than one 16th is stored is read chunk by chunk: the rest is fill values, maybe petabytes.
inline constexpr std::uint64_t foreign_sparse_ratio = 16;

// A list or a text of variable length that is larger is not read: no simulation writes one.
inline constexpr std::size_t foreign_list_bytes_max = 256u << 20;

// The longest path that Linux takes; longer names of filters say nothing.
inline constexpr std::size_t external_name_bytes_max = 4096;
inline constexpr std::size_t filter_name_bytes_max = 256;

// A view of a million files cannot be opened; of a pattern of names the first missing one ends the search.
inline constexpr std::size_t sources_max = 1'000'000;
inline constexpr std::uint64_t blocks_of_pattern_max = 100'000;
// HDF5 takes a part of the stack for each virtual dataset that shows another one. People make views of views.
inline constexpr std::size_t virtual_depth_max = 64;

}  // namespace forebay::foreign
