// A race of two settings: pairs of runs, one directly after the other, and the meaning of their ratios. Pure.

#pragma once

#include <cstdint>
#include <vector>

namespace forebay::advice {

struct Interval {
    double low = 0, median = 0, high = 0;
};

/// The median, and the interval with 90 % of the medians of resampled samples (bootstrap, 1,000 times). The same seed
/// gives the same interval. Without samples all are 0.
Interval bootstrap_median(const std::vector<double>& samples, std::uint64_t seed);

}  // namespace forebay::advice
