// A long wait reports its reason and its limit after 2 s and then every 30 s. The report goes to the application's
// listener on rank 0; without a listener nothing is reported. A wait ends early if the application interrupts it, as
// with Ctrl-C.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/comm/group.hpp"
#include "core/sys/clock.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

/// The application's side of a wait. Called as a function it takes one line. It is empty if nobody listens, as on all
/// ranks except the first.
struct Say : std::function<void(const std::string& line)> {
    using function::function;
    /// Options::interrupted, on any rank. It must not throw.
    std::function<bool()> interrupted = {};
};

/// Most waits end before anybody wonders. A drain of ten minutes writes twenty lines.
inline constexpr std::chrono::seconds wait_said_after{2}, wait_said_again_after{30};

/// Too short for a person at Ctrl-C to notice; short waits never call it.
inline constexpr std::chrono::milliseconds preemption_look{100};

/// `retry`, for the interrupted rank; `what` was not done.
Error interrupted(const std::string& what);

/// The wait of one rank. `say` must outlive it.
class LongWait {
public:
    /// Begins now and lasts `at_most`; `limit` describes this limit. If `limit` is "", the text of the wait has its own
    /// limit.
    LongWait(const Say& say, std::chrono::milliseconds at_most, const char* limit = "in all",
             sys::Clock::time_point now = sys::Clock::now())
        : say_(say),
          at_most_(at_most),
          limit_(limit),
          began_(now),
          next_(now + wait_said_after),
          asks_at_(now + preemption_look) {}

    bool is_over(sys::Clock::time_point now = sys::Clock::now()) const { return now >= began_ + at_most_; }
    /// True if it is time to report the reason of the wait, and somebody listens.
    bool is_due(sys::Clock::time_point now = sys::Clock::now()) const { return say_ && now >= next_; }
    void tell(const std::string& what, sys::Clock::time_point now = sys::Clock::now());
    /// True if the application interrupts the wait. Calls it on this thread, ten times a second.
    bool is_interrupted(sys::Clock::time_point now = sys::Clock::now());

    /// Call it in each turn of a wait. `what` is a function that returns the reason; it is called only for a report.
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

/// Checks the reason of this rank's wait: returns its text, or nothing if the wait is over. It may sleep up to `nap`,
/// until something happens.
using Look = std::function<std::optional<std::string>(std::chrono::milliseconds nap)>;

/// Messages between ranks that wait. `news` returns this rank's message, or "", and is called after each turn. `hear`
/// gets the message on all ranks, also on the sender.
struct Telling {
    std::function<std::string()> news;
    std::function<void(const std::string&)> hear;
};

/// Waits until no rank waits any more. False on all ranks if `at_most` is over, `retry` on all ranks if one is
/// interrupted. Rank 0 also reports the reasons of other ranks. Each turn costs one maximum over the ranks, so do not
/// use it in saves. `limit` as in LongWait. Collective.
Result<bool> wait_together(comm::Group& world, const Look& look, std::chrono::milliseconds at_most, const Say& say,
                           const Telling& telling = {}, const char* limit = "in all");

}  // namespace forebay::node
