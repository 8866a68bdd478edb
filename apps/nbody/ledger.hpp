// What saving cost the simulation, as its own clock saw it.
//
// pulse() is called several times a step, so slack and slowdown are known to a part of a step.

#pragma once

#include <chrono>
#include <vector>

namespace nbody {

class Ledger {
public:
    /// `draining`: the agent is at work now. `durable`: all that was saved is committed.
    void pulse(bool draining, bool durable);
    /// A step took so long; the pulses since the last call say whether the agent worked beside it.
    void step_done(double seconds);
    void save_begins();
    /// `kept` is false where the stream's policy skipped the step.
    void save_ended(bool kept, double blocked_seconds);

    double blocked_seconds() const { return blocked_seconds_; }
    double blocked_seconds_max() const { return blocked_seconds_max_; }
    /// The shortest and the mean time between the end of a drain and the next save; a save that came before its
    /// predecessor was durable counts as 0. Empty when there were no two saves.
    const std::vector<double>& slacks() const { return slacks_; }
    /// Steps beside which the agent worked from first to last, and those beside which it never did.
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
