// Finds out if this node drains far slower than the rest of its job: cheaply, and seldom wrongly.
//
// The node that commits a snapshot came last. If an agent came last twice in a row, with four nodes or more, it reads
// the status lines of up to 16 nodes. It compares its drain rate with their median: since the session began, or since
// its last look. Below a half it is slow, until probes pass. As long as it does not come last twice in a row, it reads
// nothing. Threads: any; hear() calls `read`.

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

/// The drains of a node in this session.
struct NodeDrained {
    std::string name;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

/// Reads status lines in the run: of up to 16 nodes of this session, evenly spread, without the node of `own`.
std::vector<NodeDrained> drains_of_others(sys::Store& store, const NodeFileOfRun& own, std::uint32_t session);

class SlowNode {
public:
    explicit SlowNode(std::function<std::vector<NodeDrained>()> read,
                      sys::Clock::duration probe_after = probe_after_usual)
        : read_(std::move(read)), probe_after_(probe_after) {}

    /// Takes an event of the agent, in a session of `nodes` nodes. `own`: the drains of this node so far.
    void hear(const Event& event, std::uint32_t nodes, const NodeDrained& own);
    /// "it drains at 0.31 of the rate of the others"; "": it is not slow.
    std::string why() const;
    /// True if the time for a probe has come.
    bool is_due(sys::Clock::time_point now) const;
    /// `ratio`: rate of its own way / rate through a neighbour; 0: it failed.
    void probed(double ratio, sys::Clock::time_point now);
    /// The event that the node is good again, once.
    std::optional<Event> take_event();

private:
    void judge(const NodeDrained& own);

    const std::function<std::vector<NodeDrained>()> read_;
    const sys::Clock::duration probe_after_;
    mutable std::mutex alone_;  // guards the members below
    int last_in_a_row_ = 0;
    std::map<std::string, NodeDrained> before_;  // of the other nodes, at the last look
    NodeDrained own_before_;
    std::string why_;
    std::optional<ProbePlan> plan_;  // while it is slow
    std::optional<Event> to_tell_;
};

}  // namespace forebay::agent
