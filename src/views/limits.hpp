// The limits of views, each with its reason.

#pragma once

#include <chrono>
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

// Groups of a file that people made are a few deep; each open one takes memory and stack.
inline constexpr int walk_depth_max = 32;

// Each object is opened once when a file is looked at, which takes some 20 us.
inline constexpr std::uint64_t walk_objects_max = 1'000'000;

// Attributes that are read as numbers are positions, spacings and the like.
inline constexpr std::uint64_t attribute_numbers_max = 1024;

// Of a dataset that is read to see whether it can be.
inline constexpr std::uint64_t foreign_window_bytes = 8u << 20;

// A chunk takes its filters each time it is read, unless it stays in memory: those that are larger than the window are
// read in several boxes.
inline constexpr std::size_t foreign_chunk_cache_bytes = 32u << 20;

// No element that a simulation writes is larger; one is read at once.
inline constexpr std::uint64_t foreign_element_bytes_max = 256u << 20;

// Of a dataset of which less than this part is stored, chunk by chunk is read: the rest is fill values, maybe
// petabytes.
inline constexpr std::uint64_t foreign_sparse_ratio = 16;

// Node files that an export keeps open: enough for a row of ranks of an N-D decomposition, few against any limit of
// descriptors.
inline constexpr std::size_t export_files_kept_max = 128;

// What one thread of an export reads at once: long enough for a spinning disk. It takes this three times beside its
// window: as it was read, as it is stored when the node file is compressed, and a chunk of that.
inline constexpr std::uint64_t export_read_bytes = 4u << 20;
inline constexpr std::uint64_t export_thread_bytes = 3 * export_read_bytes;

// The least window: below it an export would read each segment of the sources again and again.
inline constexpr std::uint64_t export_window_bytes_min = 1u << 20;

// More windows in memory at once, and larger ones, did not write faster.
inline constexpr std::uint64_t export_memory_bytes = 64u << 20;
inline constexpr int export_threads = 4;

// How much a killed export copies again at most, beside what was in its windows: a second or two of writing, against
// two syncs for the journal.
inline constexpr std::uint64_t export_journal_bytes = 1u << 30;
// And how long it copied for that, where storage is slow or the rate limited.
inline constexpr std::chrono::seconds export_journal_pause{2};

// Heads are read by so many threads: a file system far away answers each open after a millisecond or more, and several
// at once cost no more. Of so many node files the heads are in memory at a time.
inline constexpr std::uint32_t head_readers = 8;
inline constexpr std::uint32_t heads_at_once = 256;

// So many missing node files are named in an error, so that it stays readable.
inline constexpr std::size_t missing_named_max = 8;

}  // namespace forebay::views
