// The current speed of the agent: its rate, and if drains stand still so that a step of the simulation can be measured
// without them. All drains of an agent share one object, also nested drains.
//
// Threads: any thread of a drain may call update() and holds() at once; the rest between drains.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/move/pace.hpp"
#include "core/sys/clock.hpp"
#include "path/agent/pacer.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// While it lives, the page shows if the agent moves bytes. Then the page shows the state before.
class Moving {
public:
    Moving(node::Control& page, bool moves) : page_(page), before_(tell(moves)) {}
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;
    ~Moving() { tell(before_); }

private:
    bool tell(bool moves) {
        const bool before = (page_.moving.load() & 1u) != 0;
        if (before != moves) ++page_.moving;
        return before;
    }
    node::Control& page_;
    bool before_;
};

class Speed {
public:
    /// `limits` are the session's limits. Reads the application's reports from the page of `staging`, and writes there
    /// how fast drains may go.
    Speed(node::Staging& staging, const AgentOptions& limits);

    /// Takes the times of the simulation's steps since the last call.
    void take_steps();

    /// The running drain.
    struct Progress {
        std::uint64_t done_bytes = 0, file_bytes = 0;
        std::int64_t ends_unix_ns = 0;  // the required end; Schedule::ends_unix_ns()
    };
    /// Sets rate and hold again, at most every 10 ms. True if the drain goes faster than the limit on the slowdown
    /// allows, to end in time.
    bool update(const Progress& progress);

    /// True if drains stand still.
    bool holds() const { return hold_; }
    move::Pace& pace() { return pace_; }

private:
    bool application_computes(sys::Clock::time_point now);
    Pacer::Answer answer(const Progress& progress, sys::Clock::time_point now);

    node::Staging& staging_;
    node::Control& page_;
    const double slowdown_percent_max_;
    const std::uint64_t rate_max_;  // bytes a second; 0: no limit
    move::Pace pace_;
    std::atomic<bool> hold_{false};

    std::mutex updating_;  // guards the members below while a drain runs
    Pacer pacer_;
    std::uint64_t samples_seen_ = 0;
    sys::Clock::time_point updated_, looked_for_application_;
    bool application_lives_ = true;
};

}  // namespace forebay::agent
