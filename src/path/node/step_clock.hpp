// The clock of a simulation's steps: the time of a step with and without a drain under way, told to the agent on the
// control page by the node's first rank.
//
// A sample is the mean of as many whole steps as take 100 ms or more, without the time of saves. It is given only when
// the agent moved bytes during all of it or during none of it. Steps end where the simulation calls Session::job(); of
// one that never does, a step is what lies between two saves of the stream that it saved first.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/sys/clock.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

/// While it lives, a call of the application waits for the agent, so that no drain slows any computing.
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
    /// A call that is not computing begins, or ends; `stream` where it is a save of that stream.
    void leave(Control& page, sys::Clock::time_point now, std::optional<std::uint32_t> stream = {});
    void come_back(const Control& page, sys::Clock::time_point now);

private:
    void end_step(Control& page, sys::Clock::time_point now);
    void begin(const Control& page, sys::Clock::time_point now);

    bool counts_ = false;  // a step has begun
    bool told_steps_ = false;
    std::optional<std::uint32_t> stream_;  // whose saves are the steps of a simulation that never calls job()
    sys::Clock::time_point begun_, left_;
    std::chrono::nanoseconds away_{0};
    std::uint32_t moving_ = 0;
    std::uint64_t steps_ = 0;
};

/// The samples that the application gave since `seen` of them, which is brought up to date.
struct StepSample {
    std::chrono::nanoseconds step{0};
    bool draining = false;
};
std::optional<StepSample> next_sample(const Control& page, std::uint64_t& seen);

}  // namespace forebay::node
