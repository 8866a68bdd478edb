// A wait that lasts, and that says so: for what, and how long at most; after 2 s, and from then on every 30 s. The
// hearer is the one that the application has named, on rank 0; without one nothing is said. A wait ends early when the
// application wants that, as at Ctrl-C.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/comm/group.hpp"
#include "core/sys/clock.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

/// The application beside a wait. As a function it takes one line; it is empty if nobody listens, as on all ranks but
/// the first.
struct Say : std::function<void(const std::string& line)> {
    using function::function;
    /// Options::interrupted, on any rank. It throws nothing.
    std::function<bool()> interrupted = {};
};

/// Most waits end before anybody wonders; a node that drains for ten minutes writes twenty lines.
inline constexpr std::chrono::seconds wait_said_after{2}, wait_said_again_after{30};

/// Nobody who presses Ctrl-C notices the delay, and short waits ask nothing.
inline constexpr std::chrono::milliseconds preemption_look{100};

/// `retry`, for the rank that was interrupted; `what` was not done.
Error interrupted(const std::string& what);

/// One rank's wait. `say` must outlive it.
class LongWait {
public:
    /// From now on, for `at_most`, which is meant as `limit` says. With a `limit` of "" the text of the wait has
    /// a bound of its own.
    LongWait(const Say& say, std::chrono::milliseconds at_most, const char* limit = "in all",
             sys::Clock::time_point now = sys::Clock::now())
        : say_(say),
          at_most_(at_most),
          limit_(limit),
          began_(now),
          next_(now + wait_said_after),
          asks_at_(now + preemption_look) {}

    bool is_over(sys::Clock::time_point now = sys::Clock::now()) const { return now >= began_ + at_most_; }
    /// Whether it is time to say what is waited for, and somebody listens.
    bool is_due(sys::Clock::time_point now = sys::Clock::now()) const { return say_ && now >= next_; }
    void tell(const std::string& what, sys::Clock::time_point now = sys::Clock::now());
    /// Whether the application wants the wait to end. It is asked ten times a second, on this thread.
    bool is_interrupted(sys::Clock::time_point now = sys::Clock::now());

    /// In each turn of a wait. `what`, a function, answers with what is waited for; it is asked only when it is said.
    template <class What>
    void turn(What&& what, sys::Clock::time_point now = sys::Clock::now()) {
        if (is_due(now)) tell(what(), now);
    }

private:
    const Say& say_;
    std::chrono::milliseconds at_most_;
    const char* limit_;
    sys::Clock::time_point began_, next_, asks_at_;
    bool interrupted_ = false;
};

/// A look at what this rank waits for: its name, or nothing any more. It may sleep for `nap`, until something has
/// happened.
using Look = std::function<std::optional<std::string>(std::chrono::milliseconds nap)>;

/// What ranks tell each other while they wait: `told` has what this rank has to tell, or "", and is asked again after
/// each turn; `hear` gets what a rank tells, on all ranks, that one too.
struct Telling {
    std::function<std::string()> news;
    std::function<void(const std::string&)> hear;
};

/// Until no rank waits any more; false when `at_most` is over before, and on all ranks `retry` when one is interrupted.
/// Rank 0 says what the others wait for too. A maximum of the ranks for each turn: not for saves. `limit` is that of
/// LongWait. Collective.
Result<bool> wait_together(comm::Group& world, const Look& look, std::chrono::milliseconds at_most, const Say& say,
                           const Telling& telling = {}, const char* limit = "in all");

}  // namespace forebay::node
