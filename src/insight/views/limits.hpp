// The limits of exports, each with its reason.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::views {

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

}  // namespace forebay::views
