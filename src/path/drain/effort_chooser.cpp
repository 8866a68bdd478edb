#include "path/drain/effort_chooser.hpp"

#include <algorithm>
#include <chrono>

namespace forebay::drain {

EffortChooser::Choice EffortChooser::choose(std::uint32_t variable, double write_seconds) const {
    const std::lock_guard lock(mutex_);
    const auto& ladder = ladders_[variable];
    const auto rung = ladder.choose(time_a_byte(), write_seconds);
    return {rung, ladder[rung]};
}

void EffortChooser::took(std::uint32_t variable, std::size_t rung, std::uint64_t plain_bytes,
                         std::uint64_t stored_bytes, double seconds) {
    const std::lock_guard lock(mutex_);
    ladders_[variable].took(rung, plain_bytes, stored_bytes, seconds);
}

void EffortChooser::done(std::uint64_t plain_bytes) {
    const std::lock_guard lock(mutex_);
    plain_left_ -= plain_bytes;
}

// The time that one thread may take for a plain byte.
std::optional<double> EffortChooser::time_a_byte() const {
    if (!seconds_left_ || plain_left_ == 0) return std::nullopt;
    const std::chrono::duration<double> taken = sys::Clock::now() - start_;
    return std::max(0.0, *seconds_left_ - taken.count()) * threads_ / static_cast<double>(plain_left_);
}

}  // namespace forebay::drain
