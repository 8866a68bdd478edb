// The cost of saving for the simulation, by the simulation's own clock.
//
// pulse() is called several times a step, so slack and slowdown are known to a part of a step.

#pragma once

#include <chrono>
#include <vector>

namespace nbody {

class Ledger {
public:
    /// `draining`: the agent is at work now. `durable`: everything saved so far is committed.
    void pulse(bool draining, bool durable);
    /// A step took `seconds`. The pulses since the last call show if the agent worked during the step.
    void step_done(double seconds);
    void save_begins();
    /// `kept` is false if the stream's policy skipped the step.
    void save_ended(bool kept, double blocked_seconds);

    double blocked_seconds() const { return blocked_seconds_; }
    double blocked_seconds_max() const { return blocked_seconds_max_; }
    /// The times between the end of a drain and the next save. A save that begins before the last one was durable
    /// counts as 0. Empty before the second save.
    const std::vector<double>& slacks() const { return slacks_; }
    /// Seconds of steps with the agent at work from first to last, and of steps without the agent.
    const std::vector<double>& steps_draining() const { return steps_draining_; }
    const std::vector<double>& steps_alone() const { return steps_alone_; }

private:
    using Clock = std::chrono::steady_clock;

    double blocked_seconds_ = 0, blocked_seconds_max_ = 0;
    bool saved_ = false, durable_ = true;
    Clock::time_point durable_since_{};
    int pulses_ = 0, pulses_draining_ = 0;
    std::vector<double> slacks_, steps_draining_, steps_alone_;
};

double mean(const std::vector<double>& values);

}  // namespace nbody
