// Measures a simulation's steps: the time of a step with and without a running drain. The node's first rank writes the
// samples to the control page for the agent.
//
// A sample is the mean of as many whole steps as take 100 ms or more, without the time of saves. It counts only if the
// agent moved bytes during all of it or none of it. A step ends when the simulation calls Session::job(). If it never
// calls it, a step is the time between two saves of its first saved stream.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/sys/clock.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

/// While it exists, a call of the application waits for the agent, so a drain slows no computing.
class Waiting {
public:
    explicit Waiting(Control& page) : page_(page) { page_.waiting.fetch_add(1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { page_.waiting.fetch_sub(1); }

private:
    Control& page_;
};

class StepClock {
public:
    /// Session::job() was called: a step ends and the next begins.
    void step(Control& page, sys::Clock::time_point now);
    /// A call without computing begins or ends. `stream` is set if the call saves that stream.
    void leave(Control& page, sys::Clock::time_point now, std::optional<std::uint32_t> stream = {});
    void come_back(const Control& page, sys::Clock::time_point now);

private:
    void end_step(Control& page, sys::Clock::time_point now);
    void begin(const Control& page, sys::Clock::time_point now);

    bool counts_ = false;  // a step has begun
    bool told_steps_ = false;
    std::optional<std::uint32_t> stream_;  // without calls of job(): saves of this stream end the steps
    sys::Clock::time_point begun_, left_;
    std::chrono::nanoseconds away_{0};
    std::uint32_t moving_ = 0;
    std::uint64_t steps_ = 0;
};

/// next_sample() returns the sample after the first `seen` samples and updates `seen`.
struct StepSample {
    std::chrono::nanoseconds step{0};
    bool draining = false;
};
std::optional<StepSample> next_sample(const Control& page, std::uint64_t& seen);

}  // namespace forebay::node
