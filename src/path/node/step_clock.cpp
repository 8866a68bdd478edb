#include "path/node/step_clock.hpp"

namespace forebay::node {

namespace {

// A paced drain writes a piece every 50 ms. Shorter samples would contain one piece or none, and their median none.
constexpr std::chrono::milliseconds sample_min{100};

}  // namespace

void StepClock::begin(const Control& page, sys::Clock::time_point now) {
    counts_ = true;
    begun_ = now;
    away_ = {};
    steps_ = 0;
    moving_ = page.moving.load();
}

void StepClock::end_step(Control& page, sys::Clock::time_point now) {
    if (!counts_) return begin(page, now);
    ++steps_;
    const auto took = now - begun_ - away_;
    // The agent began or stopped moving bytes during the sample, so it belongs to neither kind.
    if (page.moving.load() != moving_) return begin(page, now);
    if (took < sample_min) return;
    const auto step_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()) / steps_;
    const auto number = page.step_samples_count.load();
    // One word, so that the agent never reads half a sample.
    page.step_samples[number % step_samples_max].store(step_ns << 1 | (moving_ & 1u));
    page.step_samples_count.store(number + 1);
    page.counts.steps_counted += steps_;
    begin(page, now);
}

void StepClock::step(Control& page, sys::Clock::time_point now) {
    if (!told_steps_) counts_ = false;  // steps before this call were counted from saves
    told_steps_ = true;
    end_step(page, now);
}

void StepClock::leave(Control& page, sys::Clock::time_point now, std::optional<std::uint32_t> stream) {
    left_ = now;
    if (told_steps_ || !stream) return;
    if (!stream_) stream_ = stream;
    if (stream_ == stream && counts_) end_step(page, now);
}

void StepClock::come_back(const Control& page, sys::Clock::time_point now) {
    if (counts_) away_ += now - left_;
    else if (!told_steps_ && stream_) begin(page, now);
}

std::optional<StepSample> next_sample(const Control& page, std::uint64_t& seen) {
    const auto count = page.step_samples_count.load();
    if (seen >= count) return {};
    if (count - seen > step_samples_max) seen = count - step_samples_max;
    const auto word = page.step_samples[seen++ % step_samples_max].load();
    return StepSample{std::chrono::nanoseconds(word >> 1), (word & 1u) != 0};
}

}  // namespace forebay::node
