// A rate limit shared by threads, and by processes of one machine that share the memory of a turn: each asks for the
// bytes it is about to move and is told to wait its turn. It may be changed at any time; who waits already keeps its
// turn.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay::move {

/// Sleeps until `until`, in steps of at most 20 ms; false as soon as `stop` (may be null) is true.
bool sleep_until(std::chrono::steady_clock::time_point until, const std::atomic<bool>* stop);

/// When the bytes handed out so far will have passed, in nanoseconds of the steady clock, which all processes of a
/// machine have alike. 0 to begin with.
using Turn = std::atomic<std::int64_t>;

class Pace {
public:
    /// 0 bytes a second: no limit. With a `shared` turn the limit is that of all who share it; it must outlive this.
    explicit Pace(std::uint64_t rate_bytes_per_second, Turn* shared = nullptr);

    void set_rate(std::uint64_t rate_bytes_per_second) {
        rate_.store(rate_bytes_per_second, std::memory_order_relaxed);
    }

    /// What should be asked for at once for an even flow: about 50 ms' worth in whole pages, at most `bytes_max`.
    std::uint64_t piece_bytes(std::uint64_t bytes_max) const;

    /// Waits until `bytes` may be moved; false when `stop` became true.
    bool wait_turn(std::uint64_t bytes, const std::atomic<bool>* stop);

private:
    std::atomic<std::uint64_t> rate_;
    Turn own_{0};
    Turn& next_;
};

}  // namespace forebay::move
