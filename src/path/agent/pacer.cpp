#include "path/agent/pacer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::agent {

namespace {

// The first rate: it costs a node of any size almost nothing, and doubles about every half second.
constexpr double rate_first = 64e6;
// The lowest rate, however slow the steps are: a drain ends.
constexpr double rate_min = 1e6;
// A rate is judged by this many samples, with up to two outliers. If the samples differ by much of the limit, more are
// needed.
constexpr std::size_t samples_to_judge = 5, samples_to_judge_max = 15;
// Standard error of a median, in median absolute deviations from it, for normal noise.
constexpr double error_of_median = 1.858;
// Standard errors on each side of an interval of 90 %.
constexpr double deviations_of_90 = 1.645;
constexpr std::size_t free_samples_min = 6;
// After this many samples a simulation may be in another phase: two free steps are measured again.
constexpr std::size_t free_samples_age_max = 60;
constexpr std::size_t free_samples_again = 2;
constexpr double hold_seconds_max = 10;
// The aim as a share of the limit, so the noise of measurements stays below the limit.
constexpr double aim = 0.7;
constexpr double growth_first = 2, growth_later = 1.25, growth_near = 1.1, fall_max = 0.25;
// The drain plans with 80 % of the time left. The sync and the commit need the rest.
constexpr double time_share = 0.8;
// The time held back for a measurement must be caught up later.
constexpr double hold_reserve = 3;

}  // namespace

void Recent::add(double value) {
    if (values_.size() == count_max_) values_.erase(values_.begin());
    values_.push_back(value);
}

namespace {

double median_of(std::vector<double> sorted) {
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    if (sorted.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

}  // namespace

double Recent::median() const { return median_of(values_); }

double Recent::error() const {
    const double middle = median();
    auto away = values_;
    for (double& value : away) value = std::abs(value - middle);
    return error_of_median * median_of(std::move(away)) / middle / std::sqrt(static_cast<double>(values_.size()));
}

void Pacer::take(const node::StepSample& sample) {
    const auto seconds = std::chrono::duration<double>(sample.step).count();
    ++samples_;
    if (!sample.draining) {
        free_.add(seconds);
        samples_at_free_ = samples_;
        free_wanted_ -= std::min<std::size_t>(free_wanted_, 1);
        return;
    }
    draining_.add(seconds);
    if (std::exchange(settling_, false)) return;
    since_change_.add(seconds);
    if (knows_enough()) adjust();
}

bool Pacer::knows_enough() const {
    if (limit_ == 0 || rate_ == 0 || free_.count() < free_samples_min || since_change_.count() < samples_to_judge)
        return false;
    return since_change_.count() >= samples_to_judge_max ||
           std::hypot(since_change_.error(), free_.error()) < limit_ / 2;
}

// The reached rate counts: it may be less than the allowed rate.
void Pacer::adjust() {
    const double slowdown = since_change_.median() / free_.median() - 1;
    const double reached = achieved_ > 0 ? std::min(rate_, achieved_) : rate_;
    if (slowdown > limit_) {
        met_limit_ = true;
        rate_ = reached * std::max(fall_max, aim * limit_ / slowdown);
    } else if (slowdown > aim * limit_) {
        // Between the aim and the limit the rate is right. New samples judge it again.
        since_change_.clear();
        return;
    } else {
        const bool near = slowdown > aim * limit_ / growth_first;
        const double growth = near ? growth_near : met_limit_ ? growth_later : growth_first;
        rate_ = std::max(rate_, std::min(rate_ * growth, reached * growth_first));
    }
    rate_ = std::max(rate_, rate_min);
    since_change_.clear();
    settling_ = true;
    began_seconds_ = -1;
}

void Pacer::measure_rate(const Drain& drain) {
    // Fewer bytes than before belong to another drain, or to another try.
    if (began_seconds_ < 0 || drain.done_bytes < began_bytes_) {
        began_seconds_ = drain.now_seconds;
        began_bytes_ = drain.done_bytes;
        achieved_ = 0;
    } else if (drain.now_seconds > began_seconds_) {
        achieved_ = static_cast<double>(drain.done_bytes - began_bytes_) / (drain.now_seconds - began_seconds_);
    }
}

bool Pacer::needs_free_steps() {
    if (samples_ == 0) return false;  // a simulation that reports no steps has none
    if (free_.count() < free_samples_min && !held_) return true;
    return samples_ - samples_at_free_ > free_samples_age_max;
}

Pacer::Answer Pacer::answer(const Drain& drain) {
    if (limit_ == 0) return {};
    const auto left = static_cast<double>(drain.left_bytes);
    // The rate that is needed from now on.
    const double needed =
        drain.seconds_left <= 0 ? std::numeric_limits<double>::infinity() : left / (drain.seconds_left * time_share);
    if (rate_ == 0) rate_ = std::max(rate_min, needed > 0 && needed < rate_first ? needed : rate_first);
    if (hold_until_ == 0 && needs_free_steps()) {
        free_wanted_ = free_.count() < free_samples_min ? free_samples_min - free_.count() : free_samples_again;
        hold_until_ = drain.now_seconds + hold_seconds_max;
    }
    if (hold_until_ != 0) {
        // It holds only while the drain can catch up, and never longer than hold_seconds_max.
        const bool goes_on = free_wanted_ > 0 && drain.now_seconds < hold_until_ && needed * hold_reserve < rate_;
        if (goes_on) {
            began_seconds_ = -1;
            settling_ = true;
            return {.bytes_per_second = rate_, .hold = true};
        }
        // With any result, the next attempt comes when this one is as old.
        held_ = true;
        hold_until_ = 0;
        free_wanted_ = 0;
        samples_at_free_ = samples_;
    }
    measure_rate(drain);
    if (needed <= rate_) return {.bytes_per_second = rate_};
    // The steps at this rate say nothing about the rate that the limit allows.
    since_change_.clear();
    settling_ = true;
    began_seconds_ = -1;
    return {.bytes_per_second = needed == std::numeric_limits<double>::infinity() ? 0 : needed, .overruled = true};
}

std::optional<double> Pacer::slowdown_percent() const {
    if (free_.count() == 0 || draining_.count() == 0) return {};
    return (draining_.median() / free_.median() - 1) * 100;
}

double Pacer::slowdown_error_percent() const {
    if (free_.count() == 0 || draining_.count() == 0) return 0;
    return deviations_of_90 * 100 * draining_.median() / free_.median() * std::hypot(draining_.error(), free_.error());
}

}  // namespace forebay::agent
