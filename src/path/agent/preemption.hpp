// The work of the agent between two pieces of a drain, while no thread of the drain writes: more urgent drains, commits
// of snapshots that peers completed, counting of deadlines, and pauses for a measurement.
//
// A more urgent drain runs inside the drain that it interrupts, and may itself be interrupted. This is the only place
// that enters the agent's loop again, by `overtake`.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/move/writer.hpp"
#include "core/sys/clock.hpp"
#include "path/agent/committer.hpp"
#include "path/agent/schedule.hpp"
#include "path/agent/slots.hpp"
#include "path/agent/speed.hpp"

namespace forebay::agent {

class Preemption final : public move::Gate {
public:
    /// Drains and commits a slot completely.
    using Overtake = std::function<void(std::uint32_t)>;

    /// For one drain of `slot`. All arguments must outlive it.
    Preemption(const Schedule& schedule, Slots& slots, Speed& speed, Committer& committer, std::uint32_t slot,
               Overtake overtake, const std::atomic<bool>& stop);

    bool wanted() override;
    void pass() override;
    /// The time that this drain stood still while more urgent work ran.
    sys::Clock::duration overtaken() const { return overtaken_; }
    /// The CPU time of that work.
    std::chrono::nanoseconds overtaken_cpu() const { return overtaken_cpu_; }

private:
    bool others_wait() const;
    void update_speed();
    void hold();

    const Schedule& schedule_;
    Slots& slots_;
    Speed& speed_;
    Committer& committer_;
    const std::uint32_t slot_;
    const Urgency urgency_;
    const Overtake overtake_;
    const std::atomic<bool>& stop_;
    sys::Clock::duration overtaken_{0};
    std::chrono::nanoseconds overtaken_cpu_{0};
};

}  // namespace forebay::agent
