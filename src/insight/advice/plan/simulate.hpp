// Simulated runs with random failures: save after save, with the drains of each node and the slots. Closed forms cannot
// give the spread between equal runs, or the effect of unequal drains on slots.
//
// Threads: runs of one Simulator may run at once; they do not change it.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/plan/model.hpp"

namespace forebay::advice {

/// The result of one run.
struct SimulatedRun {
    double forward_progress = 0;  // useful computing / time
    double wall_seconds = 0;
    double visible_seconds = 0;    // mean of a save
    double drain_seconds = 0;      // mean over saves: the slowest node and its commit
    double slack = 0;              // computing between saves / drain_seconds
    double lost_work_seconds = 0;  // in total
    double failures = 0;           // their number
};

/// p10, median, p90 and mean over runs, for each number separately.
struct SimulatedSpread {
    SimulatedRun low, middle, high, mean;
};

/// 32 runs separate p10 from p90. More runs would be more exact than the inputs.
inline constexpr int simulated_runs = 32;

class Simulator {
public:
    Simulator();

    /// Simulates run `number`; equal numbers give equal runs. It ends when its steps are computed. Without progress it
    /// ends after 20,000 failures or 100 times its computing time, with the forward_progress made so far.
    SimulatedRun run(const Model& model, std::uint64_t number) const;
    SimulatedSpread runs(const Model& model, int count = simulated_runs) const;

private:
    std::vector<float> quantiles_;  // of the normal distribution, at equal steps
};

}  // namespace forebay::advice
