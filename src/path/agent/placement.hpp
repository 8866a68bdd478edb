// Chooses the storage targets of an agent's new node files, on a file system that allows it (Lustre): the targets from
// the options, in turns, without targets that are excluded or have become slow in this run.
//
// A target becomes slow if it writes a drain's bytes at less than half the rate of the rest twice in a row, or at less
// than a quarter once. From the next drain on, node files avoid it. It is used again after two probes of it, small
// files beside the run's own, reach at least 0.8 of the rate of a good target at the same moment. Each agent uses only
// its own observations and asks no other agent.
//
// Without options, and as long as nothing is slow, it chooses nothing: the file system places files as always. Threads:
// any.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/agent/prober.hpp"

namespace forebay::agent {

struct PlacementOptions {
    std::vector<std::uint32_t> targets = {};   // to use, in turns; empty: all known targets
    std::vector<std::uint32_t> excluded = {};  // never to use
    bool avoid_slow = true;
    sys::Clock::duration probe_after = probe_after_usual;
};

class Placement {
public:
    Placement(PlacementOptions options, Tell tell);

    /// Call it when a drain ended: `batch.targets` has the bytes on each target, `batch.node` and `nodes` give the
    /// turn.
    void learn(const format::TimingBatch& batch);
    /// Learns from the layout of a file of this agent that was created without a requested layout.
    void learn(const sys::StripeMap& map);
    /// True if the default of the directory must be learned, once: before the first requested layout, if no file came
    /// before it.
    bool wants_default() const;
    void learn(const std::optional<sys::StripeDefault>& defaults);
    /// The layout of the next node file; nothing: the file system decides.
    std::optional<sys::Stripes> next();
    /// Call it when the file system refused a layout: there will be no further requests.
    void give_up(const Error& why);

    /// A slow target that is due for a probe, and a good target to compare with.
    struct ProbePair {
        std::uint32_t slow = 0, good = 0;
        std::uint32_t stripe_bytes = 0;
    };
    std::optional<ProbePair> due(sys::Clock::time_point now);
    /// `ratio`: rate of the slow target's probe / rate of the good target's probe; 0: it failed.
    void probed(std::uint32_t target, double ratio, sys::Clock::time_point now);

    std::vector<std::uint32_t> slow() const;

private:
    std::vector<std::uint32_t> candidates() const;
    bool excludes_in_vain() const;
    std::uint32_t stripe_bytes() const;
    void judge(std::uint32_t target, double ratio, std::int64_t step, std::vector<Event>& events);

    std::optional<sys::Stripes> next(std::vector<Event>& events);

    const PlacementOptions options_;
    const Tell tell_;           // called only by the agent's threads, never by the thread of probes: it may hang
    mutable std::mutex alone_;  // guards the members below
    std::set<std::uint32_t> known_;
    std::map<std::uint32_t, std::vector<double>> rates_;  // of the last drains, oldest first
    std::map<std::uint32_t, int> low_in_a_row_;
    std::map<std::uint32_t, ProbePlan> slow_;
    sys::Stripes usual_;  // of files that the file system placed
    sys::StripeDefault default_;
    bool knows_default_ = false;
    std::uint32_t node_ = 0, nodes_ = 1;
    std::uint64_t turn_ = 0;
    bool given_up_ = false;
    std::vector<Event> to_tell_;  // about probes, emitted with the next node file
};

/// True if a file of that name is a node file, or becomes one.
bool is_node_file(std::string_view path);

/// Creates node files as `placement` decides, and passes all other calls on. Both must outlive it.
std::unique_ptr<sys::Store> placed(sys::Store& store, Placement& placement);

/// Probes one due slow target: writes and syncs a small file on it and on a good target, in `directory`, and removes
/// both. Does nothing if none is due. It may hang as long as the target does.
void probe_one(sys::Store& store, const std::string& directory, Placement& placement);

}  // namespace forebay::agent
