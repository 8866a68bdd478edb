// Where an agent's new node files lie, on a file system that lets it choose (Lustre): on the storage targets that the
// options name, one after the other, without those that are excluded and those that have become slow in this run.
//
// A target becomes slow when it has written a drain's bytes at less than half the rate of the others twice in a row, or
// at less than a quarter once. Node files lie elsewhere from the next drain on, until two probes of the target, small
// files beside the run's own, take at least 0.8 of the rate that a good one shows at the same moment.
// Each agent goes by what it has seen itself: it asks no others.
//
// Without options, and as long as nothing is slow, it chooses nothing: the file system places files as always.
// Threads: any.

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
    std::vector<std::uint32_t> targets = {};   // to use, in turns; empty: those that files have been seen on
    std::vector<std::uint32_t> excluded = {};  // never to use
    bool avoid_slow = true;
    sys::Clock::duration probe_after = probe_after_usual;
};

class Placement {
public:
    Placement(PlacementOptions options, Tell tell);

    /// A drain has ended: `batch.targets` says what it wrote where, `batch.node` and `nodes` whose turn it is.
    void learn(const format::TimingBatch& batch);
    /// How a file of this agent lies that was made without a wish; learned from.
    void learn(const sys::StripeMap& map);
    /// Whether the default of the directory is to be learned, once: before the first wish that no file has preceded.
    bool wants_default() const;
    void learn(const std::optional<sys::StripeDefault>& defaults);
    /// How the next node file is to lie; nothing: as the file system places it.
    std::optional<sys::Stripes> next();
    /// The file system has refused a wish: there will be none any more.
    void give_up(const Error& why);

    /// The slow target whose time for a probe has come, and a good one to compare with.
    struct ProbePair {
        std::uint32_t slow = 0, good = 0;
        std::uint32_t stripe_bytes = 0;
    };
    std::optional<ProbePair> due(sys::Clock::time_point now);
    /// `ratio`: what the slow one's probe took of the good one's rate; 0: it failed.
    void probed(std::uint32_t target, double ratio, sys::Clock::time_point now);

    std::vector<std::uint32_t> slow() const;

private:
    std::vector<std::uint32_t> candidates() const;
    bool excludes_in_vain() const;
    std::uint32_t stripe_bytes() const;
    void judge(std::uint32_t target, double ratio, std::int64_t step, std::vector<Event>& events);

    std::optional<sys::Stripes> next(std::vector<Event>& events);

    const PlacementOptions options_;
    const Tell tell_;           // called by the agent's threads alone, never by that of probes, which may hang
    mutable std::mutex alone_;  // guards what follows
    std::set<std::uint32_t> known_;
    std::map<std::uint32_t, std::vector<double>> rates_;  // of the last drains, oldest first
    std::map<std::uint32_t, int> low_in_a_row_;
    std::map<std::uint32_t, ProbePlan> slow_;
    sys::Stripes usual_;  // of files that the file system has placed
    sys::StripeDefault default_;
    bool knows_default_ = false;
    std::uint32_t node_ = 0, nodes_ = 1;
    std::uint64_t turn_ = 0;
    bool given_up_ = false;
    std::vector<Event> to_tell_;  // of probes, with the next node file
};

/// Whether a file of that name is a node file, or becomes one.
bool is_node_file(std::string_view path);

/// Makes node files as `placement` says, and passes everything else on. Both must outlive it.
std::unique_ptr<sys::Store> placed(sys::Store& store, Placement& placement);

/// Probes one slow target that is due: writes and syncs a small file on it and on a good one, in `directory`, and
/// removes both. Nothing where none is due. It may take as long as the target does.
void probe_one(sys::Store& store, const std::string& directory, Placement& placement);

}  // namespace forebay::agent
