// Time, and a wait on memory that processes share.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay::sys {

using Clock = std::chrono::steady_clock;

/// Nanoseconds since 1970, for records that people and other nodes read.
std::int64_t unix_ns();

/// Unlike Clock, this goes on while the machine is suspended.
std::chrono::nanoseconds time_since_boot();

/// CPU time of the calling thread.
std::chrono::nanoseconds thread_time();

/// Waits until `word` differs from `seen`, or until `timeout`. It works between processes that share the word's memory.
/// std::atomic::wait does not, because it uses private futexes. May return early.
void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout);
void wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace forebay::sys
