#include "move/pace.hpp"

#include <algorithm>
#include <thread>

#include "base/bytes.hpp"
#include "base/limits.hpp"

namespace forebay::move {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t pieces_per_second = 20;
// What may be caught up after a late wake-up; without it every delay of the scheduler lowers the rate for good, with
// much of it a stalled target would be followed by a burst.
constexpr std::chrono::milliseconds credit_max{50};
constexpr std::chrono::milliseconds stop_look{20};

}  // namespace

bool sleep_until(Clock::time_point until, const std::atomic<bool>* stop) {
    while (true) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
        const auto now = Clock::now();
        if (now >= until) return true;
        std::this_thread::sleep_for(std::min<Clock::duration>(until - now, stop_look));
    }
}

Pace::Pace(std::uint64_t rate_bytes_per_second) : rate_(rate_bytes_per_second), next_(Clock::now()) {}

std::uint64_t Pace::piece_bytes(std::uint64_t bytes_max) const {
    const auto rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) return bytes_max;
    return std::min(bytes_max, round_up(std::max<std::uint64_t>(rate / pieces_per_second, 1), limits::page_bytes));
}

bool Pace::wait_turn(std::uint64_t bytes, const std::atomic<bool>* stop) {
    const auto rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) return stop == nullptr || !stop->load(std::memory_order_relaxed);
    Clock::time_point turn;
    {
        const std::lock_guard lock(mutex_);
        next_ = std::max(next_, Clock::now() - credit_max);
        turn = next_;
        next_ += std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate)));
    }
    return sleep_until(turn, stop);
}

}  // namespace forebay::move
