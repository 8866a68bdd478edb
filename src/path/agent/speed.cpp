#include "path/agent/speed.hpp"

#include <algorithm>
#include <limits>

#include "path/agent/schedule.hpp"

namespace forebay::agent {

namespace {

// The pause between two updates of the rate: short enough to follow steps of 100 ms, long enough to cost nothing.
constexpr std::chrono::milliseconds update_pause{10};
// How often a drain checks if its application lives: 1 system call a second.
constexpr std::chrono::milliseconds look_pause{1000};

}  // namespace

Speed::Speed(node::Staging& staging, const AgentOptions& limits)
    : staging_(staging),
      page_(staging.control()),
      slowdown_percent_max_(limits.slowdown_percent_max),
      rate_max_(limits.rate_bytes_per_second),
      pace_(limits.rate_bytes_per_second),
      pacer_(limits.slowdown_percent_max) {
    page_.counts.drain_rate_bytes_per_second = rate_max_;
}

void Speed::take_steps() {
    while (const auto sample = node::next_sample(page_, samples_seen_)) pacer_.take(*sample);
    const auto slowdown = pacer_.slowdown_percent();
    if (!slowdown) return;
    const auto error = pacer_.slowdown_error_percent();
    page_.counts.slowdown_percent = *slowdown;
    page_.slowdown_low_percent = *slowdown - error;
    page_.slowdown_high_percent = *slowdown + error;
}

bool Speed::application_computes(sys::Clock::time_point now) {
    if (page_.waiting.load() != 0 || page_.ending.load() != 0) return false;
    if (now - looked_for_application_ >= look_pause) {
        looked_for_application_ = now;
        application_lives_ = staging_.application_lives();
    }
    return application_lives_;
}

Pacer::Answer Speed::answer(const Progress& progress, sys::Clock::time_point now) {
    // A drain cannot slow down an application that waits or has ended.
    if (!application_computes(now)) return {};
    const auto left_seconds = progress.ends_unix_ns == never_due
                                  ? std::numeric_limits<double>::infinity()
                                  : static_cast<double>(progress.ends_unix_ns - sys::unix_ns()) * 1e-9;
    return pacer_.answer({.now_seconds = std::chrono::duration<double>(now.time_since_epoch()).count(),
                          .done_bytes = progress.done_bytes,
                          .left_bytes = progress.file_bytes - std::min(progress.file_bytes, progress.done_bytes),
                          .seconds_left = left_seconds});
}

// All threads of a drain call this. One of them sets the rate; the rest do not wait for it.
bool Speed::update(const Progress& progress) {
    const std::unique_lock alone(updating_, std::try_to_lock);
    if (!alone.owns_lock()) return false;
    const auto now = sys::Clock::now();
    if (now - updated_ < update_pause) return false;
    updated_ = now;
    take_steps();
    // Without a limit the slowdown is only measured.
    if (slowdown_percent_max_ == 0) return false;
    const auto allowed = answer(progress, now);
    auto rate = rate_max_;
    if (const auto steered = static_cast<std::uint64_t>(allowed.bytes_per_second); steered != 0)
        rate = rate == 0 ? steered : std::min(rate, steered);
    hold_ = allowed.hold;
    pace_.set_rate(rate);
    page_.counts.drain_rate_bytes_per_second = rate;
    return allowed.overruled;
}

}  // namespace forebay::agent
