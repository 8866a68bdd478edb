// The station of analyses: a worker of the node (analysis_worker.hpp) analyses sealed slots of streams with analyses.
// One station runs the built-in analyses, another station runs the scripts. Each has its own worker and its own lease.
//
// It does not hold a slot but leases it: a save that needs the slot takes it at once (node::take_leases), and the
// snapshot is not analysed. So no save waits for an analysis, and the worker's end never fails a slot, a drain or a
// commit. Drains continue while the worker works, because the agent only waits for it.
//
// The worker starts with the first snapshot to analyse, and stays. It is killed with its agent. A worker of scripts is
// first asked to leave, because scripts may have something to finish.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "path/agent/analysis_worker.hpp"
#include "path/agent/events.hpp"
#include "path/agent/script_calls.hpp"
#include "path/agent/slots.hpp"
#include "path/agent/station.hpp"

namespace forebay::agent {

/// The time limits of the worker, and how often it may fail.
struct InsituPace {
    /// The pause between two checks for a drain or a taken slot. 20 checks a second cost nothing beside the worker's
    /// computation, and a drain takes longer than it waits.
    std::chrono::milliseconds look{50};
    /// From `see` to `seen`, without the calls of scripts: these have their own limit. The worker reads the slot and
    /// computes: 100 GB at 1 GB/s are 100 s, and there may be several passes.
    std::chrono::milliseconds seen_max{600'000};
    /// From `seen` to its last line: it writes at most some MB of results, to a target that may answer slowly.
    std::chrono::milliseconds made_max{300'000};
    /// From the moment when a save takes the slot to the worker's line about it. The worker checks every few
    /// milliseconds. If it gets no processor, or a script computes, its results are useless anyway.
    std::chrono::milliseconds taken_max{1'000};
    /// Ends of workers in a row. A fault of the machine hits once or twice; five times in a row is permanent.
    std::uint32_t ends_max = 5;
};

/// The kind of analyses that a station runs.
struct Analysts {
    const char* name;  // of the station
    const char* what;  // for texts
    std::uint32_t lease;
    // Counts snapshots that were not analysed.
    std::atomic<std::uint64_t> describe::StreamCounts<std::atomic>::*missed;
    std::atomic<std::uint64_t> node::StreamControl::*in_analysis;  // the current snapshot
    bool are_scripts;
};
inline constexpr Analysts built_in{"insitu",
                                   "analyses",
                                   node::lease_hold,
                                   &describe::StreamCounts<std::atomic>::not_analysed,
                                   &node::StreamControl::in_analysis,
                                   false};
inline constexpr Analysts scripts{"scripts",
                                  "scripts",
                                  node::script_lease_hold,
                                  &describe::StreamCounts<std::atomic>::scripts_missed,
                                  &node::StreamControl::in_scripts,
                                  true};

class InsituStation final : public Station {
public:
    /// `slots` must outlive it. The worker works for `directory`. For built-in analyses `options` gives the program.
    InsituStation(Slots& slots, std::string directory, AgentOptions options, Tell tell, InsituPace pace = {},
                  Analysts analysts = built_in);

    const char* name() const override { return analysts_.name; }
    std::uint32_t hold() const override { return analysts_.lease; }
    bool wants(std::uint32_t slot) const override;
    Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) override;
    /// Lets the worker end by itself. Call it from the thread that ran it.
    void leave();
    /// Counts and reports that the slot's snapshot is not analysed. Another thread may be in run() for another slot.
    void leave_out(std::uint32_t slot, const std::string& why);

private:
    class Lease;
    struct Due {
        std::vector<Analysis> analyses;  // all of the stream
        std::vector<std::size_t> indices;
    };

    Result<Due> due(std::uint32_t slot) const;
    format::Line line_of(std::uint32_t slot, std::uint64_t snapshot_id) const;
    Result<> begin(std::uint32_t slot, const Lease& lease, const Due& due);
    Result<> follow(Lease& lease, move::Gate& gate, const std::atomic<bool>& stop);
    Result<bool> hear(const WorkerAnswer& answer, Lease& lease);
    void raise(const WorkerAnswer& answer, const Lease& lease);
    void end_worker(const Error& error);
    bool must_leave(const std::atomic<bool>& stop) const;
    void count_lost();
    void leave_unseen(Lease& lease, const std::string& why) const;
    void call_ended(const Lease& lease, const Error& error);

    Slots& slots_;
    const std::string directory_;
    const AgentOptions options_;
    const Tell tell_;
    const InsituPace pace_;
    const Analysts analysts_;
    ScriptCalls calls_;
    std::string python_;  // of the worker
    std::optional<AnalysisWorker> worker_;
    std::uint32_t ends_ = 0;            // of workers in a row, without an analysed snapshot
    std::set<std::string> notes_told_;  // texts of the worker that were reported
};

}  // namespace forebay::agent
