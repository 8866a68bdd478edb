// The limits of outlines and of what is gathered for them, each with its reason.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::outline {

// A reader keeps every node file open that it touched, and HDF5 gives fill values without an error when descriptors run
// out. A process may open 1024 files on most machines; a hundred stay for the reader's own.
inline constexpr std::uint32_t views_sources_max = 900;

// A mapping costs a reader 60 bytes of the view and some 10 us when it opens the variable; a million make a view of 60
// MB.
inline constexpr std::uint64_t views_mappings_max = 1'000'000;

// Replicated values up to this size are copied into the view, so that it says them without any node file; larger ones
// are shown from the first node file.
inline constexpr std::uint64_t views_copied_bytes_max = 1u << 20;

// Heads are read by so many threads: a file system far away answers each open after a millisecond or more, and several
// at once cost no more. Of so many node files the heads are in memory at a time.
inline constexpr std::uint32_t head_readers = 8;
inline constexpr std::uint32_t heads_at_once = 256;

// So many missing node files are named in an error, so that it stays readable.
inline constexpr std::size_t missing_named_max = 8;

}  // namespace forebay::outline
