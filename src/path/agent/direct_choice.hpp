// Chooses if an agent writes past the page cache of its machine when its session leaves that open. The choice is
// measured at the target with a temporary file in the run's directory.

#pragma once

#include <cstdint>
#include <string>

#include "core/move/writer.hpp"
#include "core/sys/store.hpp"

namespace forebay::agent {

/// The smallest node file for which it is measured. At 16 MiB the measurement writes an eighth of it. Drains of smaller
/// files are a matter of latencies.
inline constexpr std::uint64_t chosen_bytes_min = 16u << 20;

struct DirectChoice {
    bool direct = true;
    std::string why;  // for the log; empty if there was no choice
};

/// Chooses the cache if a read of this machine does not see bytes that were written past it, or if writing and syncing
/// is 4 times as fast through the cache. Otherwise past the cache, so the simulation keeps memory and its bandwidth.
/// Writes at most an eighth of `file_bytes`, and 16 MiB, mostly for less than 2 s. With a limit in `options` the speed
/// is not measured. On an error nothing is chosen, and the file is removed if possible.
Result<DirectChoice> choose_direct(sys::Store& store, const std::string& run, const move::WriteOptions& options,
                                   std::uint64_t file_bytes);

}  // namespace forebay::agent
