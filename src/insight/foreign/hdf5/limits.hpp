// The limits for reading foreign HDF5 files, each with its reason.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::foreign {

// The most bytes of a dataset that are read at once.
inline constexpr std::uint64_t foreign_window_bytes = 8u << 20;

// A chunk passes its filters at each read, unless it stays in memory. HDF5 caches chunks of so many bytes, or one
// larger chunk. It needs that chunk whole anyway while the filters run.
inline constexpr std::size_t foreign_chunk_cache_bytes = 32u << 20;
// The limit of HDF5.
inline constexpr std::uint64_t chunk_bytes_max = (std::uint64_t{1} << 32) - 1;
// All sources of a virtual dataset stay open, each with its own cache. Together they cache so many bytes, or one chunk.
inline constexpr std::size_t foreign_source_cache_bytes = 256u << 20;

// An element is read at once. No simulation writes a larger element.
inline constexpr std::uint64_t foreign_element_bytes_max = 256u << 20;

// If less than 1/16 of a dataset is stored, it is read chunk by chunk: the rest is fill values, maybe petabytes.
inline constexpr std::uint64_t foreign_sparse_ratio = 16;

// Larger lists or texts of variable length are not read: no simulation writes them.
inline constexpr std::size_t foreign_list_bytes_max = 256u << 20;

// The longest path in Linux; longer filter names are cut.
inline constexpr std::size_t external_name_bytes_max = 4096;
inline constexpr std::size_t filter_name_bytes_max = 256;

// A view of a million files cannot be opened. For a pattern of names, the first missing file ends the search.
inline constexpr std::size_t sources_max = 1'000'000;
inline constexpr std::uint64_t blocks_of_pattern_max = 100'000;
// HDF5 uses stack for each level of virtual datasets. People make views of views.
inline constexpr std::size_t virtual_depth_max = 64;

}  // namespace forebay::foreign
