// A model of a parallel file system with writing nodes and storage targets, for tests of the tuner. Each agent holds as
// many tokens as it has writes in flight. A token is free when its write ends; a target and a node's link are free when
// earlier writes are done with them. Costs: a latency for each write; a seek when a target changes to another file; a
// lock when two agents share a stripe of a shared file; an object for each stripe of a new file; a commit. The best
// setting lies far from the defaults.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/tune/tuner.hpp"

namespace forebay::test {

struct EmulatedSite {
    std::uint64_t nodes = 8, targets = 24;
    double node_bytes = 2e9;
    double noise = 0.15;           // sigma of each trial, lognormal
    double busy = 0;               // share of trials at less than half the speed of the storage
    bool ignores_stripes = false;  // ignores the stripe hint, as some MPI libraries do
};

class EmulatedStorage {
public:
    EmulatedStorage(const EmulatedSite& site, std::uint64_t seed);

    /// The knobs of this site, with the names of the configuration.
    const std::vector<advice::Knob>& knobs() const { return knobs_; }
    /// Noise-free seconds for a share of the bytes.
    double seconds(const advice::Choice& choice, double share) const;
    /// The same with noise: another value each time.
    advice::Outcome run(const advice::Trial& trial);
    /// The least seconds of any choice for all bytes. Tries all choices, some tens of thousands.
    double best_seconds() const;

private:
    EmulatedSite site_;
    std::vector<advice::Knob> knobs_;
    std::uint64_t seed_, turn_ = 0;
};

/// Runs the search to its end. The returned tuner holds all trials.
advice::Tuner search(EmulatedStorage& storage, const std::vector<advice::Choice>& seeds,
                     const advice::TunerOptions& options);

}  // namespace forebay::test
