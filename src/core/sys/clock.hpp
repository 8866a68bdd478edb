// Time, and a wait on memory that processes share.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay::sys {

using Clock = std::chrono::steady_clock;

/// Nanoseconds since 1970, for records that people and other nodes read.
std::int64_t unix_ns();

/// Goes on, other than Clock, while this machine is suspended.
std::chrono::nanoseconds time_since_boot();

/// What the calling thread has had of a CPU.
std::chrono::nanoseconds thread_time();

/// Waits until `word` is no longer `seen`, or until `timeout`; works between processes that share the word's
/// memory (std::atomic::wait does not: it uses private futexes). May return early.
void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout);
void wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace forebay::sys
