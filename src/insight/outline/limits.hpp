// The limits of outlines and of the contents gathered for them, each with its reason.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::outline {

// A reader keeps every touched node file open. If descriptors run out, HDF5 returns fill values without an error. On
// most machines a process may open 1024 files; a hundred remain for the reader.
inline constexpr std::uint32_t views_sources_max = 900;

// For each mapping the view has 60 bytes, and a reader needs some 10 us when it opens the variable. A million mappings
// make a view of 60 MB.
inline constexpr std::uint64_t views_mappings_max = 1'000'000;

// Smaller replicated values are copied into the view, so that they need no node file. Larger values are shown from the
// first node file.
inline constexpr std::uint64_t views_copied_bytes_max = 1u << 20;

// Threads that read heads: a distant file system answers each open after a millisecond or more, and several at once
// take no longer. And the number of heads in memory at a time.
inline constexpr std::uint32_t head_readers = 8;
inline constexpr std::uint32_t heads_at_once = 256;

// The most missing node files to list in an error, so that it stays readable.
inline constexpr std::size_t missing_named_max = 8;

}  // namespace forebay::outline
