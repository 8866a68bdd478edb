// Whether this node drains far slower than the others of its job, as its agent finds out: cheaply, and seldom wrongly.
//
// Who commits a snapshot came last. An agent that has come last twice in a row, with four nodes or more, looks at the
// status lines of up to 16 other nodes, and compares bytes per second of draining: with the median of theirs, since the
// session began, and where it has looked before, since then. Below a half it is slow, until probes pass. As long as it
// does not come last twice in a row it reads nothing.
// Threads: any; `read` is called by hear().

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/events.hpp"
#include "path/agent/prober.hpp"

namespace forebay::agent {

/// What a node has drained in this session.
struct NodeDrained {
    std::string name;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

/// Of up to 16 nodes of this session, spread evenly, without that of `own`: from their status lines in the run.
std::vector<NodeDrained> drains_of_others(sys::Store& store, const NodeFileOfRun& own, std::uint32_t session);

class SlowNode {
public:
    explicit SlowNode(std::function<std::vector<NodeDrained>()> read,
                      sys::Clock::duration probe_after = probe_after_usual)
        : read_(std::move(read)), probe_after_(probe_after) {}

    /// An event of the agent, of a session of so many nodes; `own`: what it has drained by now itself.
    void hear(const Event& event, std::uint32_t nodes, const NodeDrained& own);
    /// "it drains at 0.31 of the rate of the others"; "": it is not slow.
    std::string why() const;
    /// Whether the time for a probe has come.
    bool is_due(sys::Clock::time_point now) const;
    /// `ratio`: what its own way took of the rate through a neighbour; 0: it failed.
    void probed(double ratio, sys::Clock::time_point now);
    /// That it is good again, once.
    std::optional<Event> take_event();

private:
    void judge(const NodeDrained& own);

    const std::function<std::vector<NodeDrained>()> read_;
    const sys::Clock::duration probe_after_;
    mutable std::mutex alone_;  // guards what follows
    int last_in_a_row_ = 0;
    std::map<std::string, NodeDrained> before_;  // of the others, at the last look
    NodeDrained own_before_;
    std::string why_;
    std::optional<ProbePlan> plan_;  // while it is slow
    std::optional<Event> to_tell_;
};

}  // namespace forebay::agent
