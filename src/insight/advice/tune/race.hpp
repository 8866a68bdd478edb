// A race of two settings: pairs of runs, one right after the other, and what their ratios say. Pure.

#pragma once

#include <cstdint>
#include <vector>

namespace forebay::advice {

struct Interval {
    double low = 0, median = 0, high = 0;
};

/// The median, and the interval that holds 90 % of the medians of samples drawn again from these (bootstrap, 1,000
/// times). The same seed gives the same interval. Of no samples all is 0.
Interval bootstrap_median(const std::vector<double>& samples, std::uint64_t seed);

}  // namespace forebay::advice
