// Runs that never were: saves, drains, slots and failures by chance, a save after the other, every node's drains by
// themselves. They say what closed forms cannot: how far runs of one kind lie apart, and what drains that differ from
// save to save do to slots.
//
// Threads: runs of one Simulator may go on at once; it is not changed by them.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/plan/model.hpp"

namespace forebay::advice {

/// How one run went.
struct SimulatedRun {
    double forward_progress = 0;  // useful computing / time
    double wall_seconds = 0;
    double visible_seconds = 0;    // the mean of a save
    double drain_seconds = 0;      // the mean over saves of the slowest node, and its commit
    double slack = 0;              // computing between saves / drain_seconds
    double lost_work_seconds = 0;  // in all
    double failures = 0;           // how many
};

/// p10, median, p90 and mean over runs, each number by itself.
struct SimulatedSpread {
    SimulatedRun low, middle, high, mean;
};

/// 32 runs tell p10 from p90; more of them are no better than the inputs.
inline constexpr int simulated_runs = 32;

class Simulator {
public:
    Simulator();

    /// The run of this number: the same numbers give the same run. It ends when its steps are computed, or when it gets
    /// nowhere, after 20,000 failures or 100 times its computing: then forward_progress is what it has got.
    SimulatedRun run(const Model& model, std::uint64_t number) const;
    SimulatedSpread runs(const Model& model, int count = simulated_runs) const;

private:
    std::vector<float> quantiles_;  // of the normal distribution, at equal steps
};

}  // namespace forebay::advice
