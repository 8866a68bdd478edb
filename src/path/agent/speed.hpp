// The speed of the agent at this moment: its rate, and whether drains stand still so that a step of the simulation
// can be measured without them. One object for all drains of an agent, nested ones too.
//
// Threads: update() and holds() by all threads of a drain at once; the others between drains.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/move/pace.hpp"
#include "core/sys/clock.hpp"
#include "path/agent/pacer.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// While it lives, the page says that the agent moves bytes, or that it does not; then what was said before.
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
    /// `limits` are those of the session. Reads what the application tells on the page of `staging`, and says there how
    /// fast drains may go.
    Speed(node::Staging& staging, const AgentOptions& limits);

    /// Takes what the simulation's steps took since the last call.
    void take_steps();

    /// The drain under way.
    struct Progress {
        std::uint64_t done_bytes = 0, file_bytes = 0;
        std::int64_t ends_unix_ns = 0;  // when it should have ended; Schedule::ends_unix_ns()
    };
    /// Sets rate and hold anew, at most every 10 ms. True when the drain goes faster than the limit on the slowdown
    /// allows, so as to end in time.
    bool update(const Progress& progress);

    /// Whether drains stand still.
    bool holds() const { return hold_; }
    move::Pace& pace() { return pace_; }

private:
    bool application_computes(sys::Clock::time_point now);
    Pacer::Answer answer(const Progress& progress, sys::Clock::time_point now);

    node::Staging& staging_;
    node::Control& page_;
    const double slowdown_percent_max_;
    const std::uint64_t rate_max_;  // bytes a second; 0: none
    move::Pace pace_;
    std::atomic<bool> hold_{false};

    std::mutex updating_;  // guards what follows while a drain is under way
    Pacer pacer_;
    std::uint64_t samples_seen_ = 0;
    sys::Clock::time_point updated_, looked_for_application_;
    bool application_lives_ = true;
};

}  // namespace forebay::agent
