#include "core/move/pace.hpp"

#include <algorithm>
#include <thread>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"

namespace forebay::move {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t pieces_per_second = 20;
// How much a late wake-up may catch up. Without credit, every delay of the scheduler would lower the rate for good.
// With much credit, a burst would follow a stalled target.
constexpr std::chrono::milliseconds credit_max{50};
constexpr std::chrono::milliseconds stop_look{20};
// Limit of waiting sharers. A turn in shared memory farther ahead than for so many equal requests is from an earlier
// boot of the machine.
constexpr std::int64_t sharers_max = 4096;

std::int64_t ns_of(Clock::duration duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

}  // namespace

bool sleep_until(Clock::time_point until, const std::atomic<bool>* stop) {
    while (true) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
        const auto now = Clock::now();
        if (now >= until) return true;
        std::this_thread::sleep_for(std::min<Clock::duration>(until - now, stop_look));
    }
}

Pace::Pace(std::uint64_t rate_bytes_per_second, Turn* shared)
    : rate_(rate_bytes_per_second), next_(shared == nullptr ? own_ : *shared) {
    static_assert(Turn::is_always_lock_free, "processes share it");
}

std::uint64_t Pace::piece_bytes(std::uint64_t bytes_max) const {
    const auto rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) return bytes_max;
    return std::min(bytes_max, round_up(std::max<std::uint64_t>(rate / pieces_per_second, 1), limits::page_bytes));
}

bool Pace::wait_turn(std::uint64_t bytes, const std::atomic<bool>* stop) {
    const auto rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) return stop == nullptr || !stop->load(std::memory_order_relaxed);
    const auto lasts =
        static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(rate));  // nanoseconds
    auto seen = next_.load();
    std::int64_t turn = 0;
    do {
        const auto now = ns_of(Clock::now().time_since_epoch());
        const bool is_left = &next_ != &own_ && (seen - now) / sharers_max > std::max(lasts, ns_of(credit_max));
        turn = is_left ? now : std::max(seen, now - ns_of(credit_max));
    } while (!next_.compare_exchange_weak(seen, turn + lasts));
    return sleep_until(Clock::time_point(std::chrono::nanoseconds(turn)), stop);
}

}  // namespace forebay::move
