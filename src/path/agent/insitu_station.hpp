// The station of analyses: has a worker of the node (analysis_worker.hpp) look at sealed slots whose stream has some.
// One station has the built-in ones made, another one those that are scripts; each has a worker and a lease of its own.
//
// It holds no slot but leases it: a save that needs the slot takes it at once (node::take_leases), and the snapshot is
// not analysed. So no save waits for an analysis, and the worker's end never fails a slot, a drain or a commit. Drains
// go on while the worker works, since the agent does nothing but wait for it.
//
// The worker is started with the first snapshot that is to be analysed and stays; it is killed with its agent, or, of
// scripts that may have something to end, asked to leave first.

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

/// How long the worker may take, and how often it may fail.
struct InsituPace {
    /// Between two looks whether anything is to be drained, or the slot is taken: 20 a second cost nothing beside what
    /// the worker computes, and a drain takes longer than it waits.
    std::chrono::milliseconds look{50};
    /// From `see` to `seen`, without the calls of scripts, which have a limit of their own. It reads the slot and
    /// computes: 100 GB at 1 GB/s are 100 s, and there may be several passes.
    std::chrono::milliseconds seen_max{600'000};
    /// From `seen` to its last word: it writes results of some MB at most, to a target that may be slow to answer.
    std::chrono::milliseconds made_max{300'000};
    /// From the moment when a save has taken the slot to the worker's word on it. It looks for that every few
    /// milliseconds; where it has no processor, or a script computes, nothing of what it reads is of use any more.
    std::chrono::milliseconds taken_max{1'000};
    /// Ends of workers in a row. A fault of the machine hits once or twice; what comes five times comes always.
    std::uint32_t ends_max = 5;
};

/// Whose analyses a station has made.
struct Analysts {
    const char* name;  // of the station
    const char* what;  // for texts
    std::uint32_t lease;
    // Counts snapshots that they have not seen.
    std::atomic<std::uint64_t> describe::StreamCounts<std::atomic>::*missed;
    std::atomic<std::uint64_t> node::StreamControl::*in_analysis;  // the one that they look at
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
    /// `slots` must outlive it. The worker works for `directory`; that of built-in analyses is the program that
    /// `options` say.
    InsituStation(Slots& slots, std::string directory, AgentOptions options, Tell tell, InsituPace pace = {},
                  Analysts analysts = built_in);

    const char* name() const override { return analysts_.name; }
    std::uint32_t hold() const override { return analysts_.lease; }
    bool wants(std::uint32_t slot) const override;
    Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) override;
    /// Lets the worker come to its own end, by the thread that has run it.
    void leave();
    /// Counts and tells that the slot's snapshot is not analysed. Also while another thread is in run() of another
    /// slot.
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
    std::uint32_t ends_ = 0;            // of workers, since one has analysed anything
    std::set<std::string> notes_told_;  // of its own words
};

}  // namespace forebay::agent
