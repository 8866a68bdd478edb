#include "ledger.hpp"

#include <algorithm>
#include <numeric>

namespace nbody {

void Ledger::pulse(bool draining, bool durable) {
    ++pulses_;
    pulses_draining_ += draining;
    if (durable && !durable_) durable_since_ = Clock::now();
    durable_ = durable;
}

// If the agent worked during a part of a step, the step would blur both means. It counts in neither.
void Ledger::step_done(double seconds) {
    if (pulses_ > 0 && pulses_draining_ == pulses_) steps_draining_.push_back(seconds);
    if (pulses_draining_ == 0) steps_alone_.push_back(seconds);
    pulses_ = pulses_draining_ = 0;
}

void Ledger::save_begins() {
    if (!saved_) return;
    const std::chrono::duration<double> slack = Clock::now() - durable_since_;
    slacks_.push_back(durable_ ? slack.count() : 0);
}

void Ledger::save_ended(bool kept, double blocked_seconds) {
    blocked_seconds_ += blocked_seconds;
    blocked_seconds_max_ = std::max(blocked_seconds_max_, blocked_seconds);
    if (!kept) return;
    saved_ = true;
    durable_ = false;
}

double mean(const std::vector<double>& values) {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace nbody
