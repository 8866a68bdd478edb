// The speed of a drain that slows the computation by no more than a limit: arithmetic on the times of the simulation's
// steps with and without a drain (node/step_clock.hpp). It reads no clock and moves nothing.
//
//   slowdown = median of steps while draining / median of steps without - 1
//
// Far from the limit the rate doubles. After it met the limit it grows slowly. Above the limit the rate falls in
// proportion, to the rate that should cause 0.7 of the limit. It never falls below the rate that lets a drain end in
// time.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "path/node/step_clock.hpp"

namespace forebay::agent {

/// The last few numbers, and their median.
class Recent {
public:
    explicit Recent(std::size_t count_max) : count_max_(count_max) {}
    void add(double value);
    void clear() { values_.clear(); }
    std::size_t count() const { return values_.size(); }
    double median() const;  // of one number or more
    double error() const;   // standard error of the median, relative to it

private:
    std::size_t count_max_;
    std::vector<double> values_;
};

class Pacer {
public:
    /// 0: measures, and never limits.
    explicit Pacer(double slowdown_percent_max) : limit_(slowdown_percent_max / 100) {}

    void take(const node::StepSample& sample);

    /// The current drain.
    struct Drain {
        double now_seconds = 0;  // of any monotonic clock
        std::uint64_t done_bytes = 0, left_bytes = 0;
        double seconds_left = std::numeric_limits<double>::infinity();  // until the required end
    };
    struct Answer {
        double bytes_per_second = 0;  // 0: no limit
        bool hold = false;            // move nothing: a step without a drain must be measured first
        bool overruled = false;       // faster than the limit allows, to end in time
    };
    Answer answer(const Drain& drain);

    /// Nothing until there are steps of both kinds.
    std::optional<double> slowdown_percent() const;
    /// Half the width of its interval of 90 %, from the scatter of the steps.
    double slowdown_error_percent() const;

private:
    bool knows_enough() const;
    void adjust();
    bool needs_free_steps();
    void measure_rate(const Drain& drain);

    double limit_;
    Recent free_{21}, draining_{15}, since_change_{15};
    std::size_t samples_ = 0, samples_at_free_ = 0;  // the age of the newest step without a drain
    std::size_t free_wanted_ = 0;                    // while it holds: this many more
    double hold_until_ = 0;
    bool held_ = false;     // since there were enough free steps
    bool settling_ = true;  // the current sample began before the rate changed
    bool met_limit_ = false;
    double rate_ = 0;      // 0: not begun
    double achieved_ = 0;  // bytes a second since the rate changed; 0: unknown
    double began_seconds_ = -1;
    std::uint64_t began_bytes_ = 0;
};

}  // namespace forebay::agent
