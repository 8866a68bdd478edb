// A rate limit shared by threads: each asks for the bytes it is about to move and is told to wait its turn. It may be
// changed at any time; who waits already keeps its turn.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace forebay::move {

/// Sleeps until `until`, in steps of at most 20 ms; false as soon as `stop` (may be null) is true.
bool sleep_until(std::chrono::steady_clock::time_point until, const std::atomic<bool>* stop);

class Pace {
public:
    /// 0 bytes a second: no limit.
    explicit Pace(std::uint64_t rate_bytes_per_second);

    void set_rate(std::uint64_t rate_bytes_per_second) {
        rate_.store(rate_bytes_per_second, std::memory_order_relaxed);
    }

    /// What should be asked for at once for an even flow: about 50 ms' worth in whole pages, at most `bytes_max`.
    std::uint64_t piece_bytes(std::uint64_t bytes_max) const;

    /// Waits until `bytes` may be moved; false when `stop` became true.
    bool wait_turn(std::uint64_t bytes, const std::atomic<bool>* stop);

private:
    std::atomic<std::uint64_t> rate_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point next_;  // when the bytes handed out so far will have passed
};

}  // namespace forebay::move
