// A rate limit shared by threads, and by processes of one machine through a turn in shared memory. Each thread asks for
// the bytes that it is about to move, and waits its turn. The rate may change at any time; waiting threads keep their
// turn.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay::move {

/// Sleeps until `until`, in steps of at most 20 ms; false as soon as `stop` (may be null) is true.
bool sleep_until(std::chrono::steady_clock::time_point until, const std::atomic<bool>* stop);

/// The time at which the granted bytes will have passed, in nanoseconds of the steady clock, which is the same for all
/// processes of a machine. Begins at 0.
using Turn = std::atomic<std::int64_t>;

class Pace {
public:
    /// 0 bytes a second: no limit. With a `shared` turn all its users share the limit; it must outlive this object.
    explicit Pace(std::uint64_t rate_bytes_per_second, Turn* shared = nullptr);

    void set_rate(std::uint64_t rate_bytes_per_second) {
        rate_.store(rate_bytes_per_second, std::memory_order_relaxed);
    }

    /// The size to ask for at once, for an even flow: about 50 ms' worth in whole pages, at most `bytes_max`.
    std::uint64_t piece_bytes(std::uint64_t bytes_max) const;

    /// Waits until `bytes` may be moved; false if `stop` became true.
    bool wait_turn(std::uint64_t bytes, const std::atomic<bool>* stop);

private:
    std::atomic<std::uint64_t> rate_;
    Turn own_{0};
    Turn& next_;
};

}  // namespace forebay::move
