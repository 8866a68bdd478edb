// The station of analyses: has the node's worker (analysis_worker.hpp) look at sealed slots whose stream has some.
//
// It holds no slot but leases it: a save that needs the slot takes it at once (node::take_lease), and the snapshot is
// not analysed. So no save waits for an analysis, and the worker's end never fails a slot, a drain or a commit. Drains
// go on while the worker works, since the agent does nothing but wait for it.
//
// The worker is started with the first snapshot that is to be analysed and stays; it is killed with its agent.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "agent/analysis_worker.hpp"
#include "agent/events.hpp"
#include "agent/slots.hpp"
#include "agent/station.hpp"

namespace forebay::agent {

/// How long the worker may take, and how often it may fail.
struct InsituPace {
    /// Between two looks whether anything is to be drained, or the slot is taken: 20 a second cost nothing beside what
    /// the worker computes, and a drain takes longer than it waits.
    std::chrono::milliseconds look{50};
    /// From `see` to `seen`. It reads the slot and computes: 100 GB at 1 GB/s are 100 s, and there may be several
    /// passes.
    std::chrono::milliseconds seen_max{600'000};
    /// From `seen` to its last word: it writes results of some MB at most, to a target that may be slow to answer.
    std::chrono::milliseconds made_max{300'000};
    /// Ends of workers in a row. A fault of the machine hits once or twice; what comes five times comes always.
    std::uint32_t ends_max = 5;
};

class InsituStation final : public Station {
public:
    /// `slots` must outlive it. The worker works for `directory`, and is the program that `options` say.
    InsituStation(Slots& slots, std::string directory, AgentOptions options, Tell tell, InsituPace pace = {});

    const char* name() const override { return "insitu"; }
    std::uint32_t hold() const override { return node::lease_hold; }
    bool wants(std::uint32_t slot) const override;
    Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) override;

private:
    class Lease;

    Result<> begin(std::uint32_t slot, const Lease& lease);
    Result<> follow(Lease& lease, move::Gate& gate, const std::atomic<bool>& stop);
    Result<bool> hear(const WorkerAnswer& answer, Lease& lease);
    void raise(const WorkerAnswer& answer, const Lease& lease);
    void end_worker(const Error& error);
    void leave_unseen(Lease& lease, const std::string& why);

    Slots& slots_;
    const std::string directory_;
    const AgentOptions options_;
    const Tell tell_;
    const InsituPace pace_;
    std::optional<AnalysisWorker> worker_;
    std::uint32_t ends_ = 0;            // of workers, since one has analysed anything
    std::set<std::string> notes_told_;  // of its own words
};

}  // namespace forebay::agent
