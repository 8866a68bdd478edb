// Whether an agent writes past the page cache of its machine where its session leaves that open: measured at the target
// itself, by a file of its own in the run's directory, which is removed again.

#pragma once

#include <cstdint>
#include <string>

#include "core/move/writer.hpp"
#include "core/sys/store.hpp"

namespace forebay::agent {

/// The least node file for which it is measured: at 16 MiB the measurement writes an eighth of it, and of less a drain
/// is a matter of latencies.
inline constexpr std::uint64_t chosen_bytes_min = 16u << 20;

struct DirectChoice {
    bool direct = true;
    std::string why;  // for the log; empty where there was nothing to choose
};

/// Through the cache where a read of this machine does not see what it has written past it, or where writing and
/// syncing is 4 times as fast by it; else past the cache, which leaves memory and its bandwidth to the simulation.
/// Writes at most an eighth of `file_bytes`, and 16 MiB, and mostly for less than 2 s. Which is faster is not asked
/// under a limit of `options`. On an error nothing is chosen, and the file is removed if it can be.
Result<DirectChoice> choose_direct(sys::Store& store, const std::string& run, const move::WriteOptions& options,
                                   std::uint64_t file_bytes);

}  // namespace forebay::agent
