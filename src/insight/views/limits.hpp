// The limits of exports, each with its reason.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::views {

// Node files that an export keeps open: enough for a row of ranks of an N-D decomposition, and few compared with any
// limit of descriptors.
inline constexpr std::size_t export_files_kept_max = 128;

// The bytes one thread reads at once: long enough for a spinning disk. Beside its window a thread takes three times
// this: the bytes as read, the stored form of a compressed node file, and a chunk of it.
inline constexpr std::uint64_t export_read_bytes = 4u << 20;
inline constexpr std::uint64_t export_thread_bytes = 3 * export_read_bytes;

// The least window. With smaller windows an export would read each source segment many times.
inline constexpr std::uint64_t export_window_bytes_min = 1u << 20;

// More or larger windows did not write faster.
inline constexpr std::uint64_t export_memory_bytes = 64u << 20;
inline constexpr int export_threads = 4;

// The most a killed export copies again, beside its open windows: a second or two of writing, against two syncs for a
// journal entry.
inline constexpr std::uint64_t export_journal_bytes = 1u << 30;
// The longest time between entries, for slow storage or a limited rate.
inline constexpr std::chrono::seconds export_journal_pause{2};

}  // namespace forebay::views
