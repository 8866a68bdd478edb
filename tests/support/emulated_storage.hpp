// A parallel file system of nodes that write and storage targets that take it, for tests of a search: a clock of
// tokens. Each agent holds as many tokens as it has writes in flight; a token is free when its write has ended, a
// target and a node's link when they are free of what came before. Costs: a latency each write, a seek where a target
// goes from one file to another, a lock where two agents meet in a stripe of a shared file, an object a stripe when a
// file is made, a commit. The surface has its best setting far from the defaults.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/tune/tuner.hpp"

namespace forebay::test {

struct EmulatedSite {
    std::uint64_t nodes = 8, targets = 24;
    double node_bytes = 2e9;
    double noise = 0.15;           // of each trial, lognormal
    double busy = 0;               // share of trials that find the storage at less than half its speed
    bool ignores_stripes = false;  // a hint that is not obeyed, as by some MPI libraries
};

class EmulatedStorage {
public:
    EmulatedStorage(const EmulatedSite& site, std::uint64_t seed);

    /// Those that exist here, by the names of the configuration.
    const std::vector<advice::Knob>& knobs() const { return knobs_; }
    /// Seconds without noise for a share of the bytes.
    double seconds(const advice::Choice& choice, double share) const;
    /// The same with noise: another value each time.
    advice::Outcome run(const advice::Trial& trial);
    /// The least that any choice takes for all bytes, by trying all. Some tens of thousands.
    double best_seconds() const;

private:
    EmulatedSite site_;
    std::vector<advice::Knob> knobs_;
    std::uint64_t seed_, turn_ = 0;
};

/// Searches until the end; the tuner has then all that it has found.
advice::Tuner search(EmulatedStorage& storage, const std::vector<advice::Choice>& seeds,
                     const advice::TunerOptions& options);

}  // namespace forebay::test
