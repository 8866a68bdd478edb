// What samples of one of many say about whether it is slow: the rules that reports of runs, and probes before them,
// share. A sample is low below 0.8 of the median over all. Of a slow one 9 samples of 10 are low; of others as many as
// are seen.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "path/telemetry/median.hpp"

namespace forebay::telemetry {

inline constexpr double low_ratio = 0.8;
/// With fewer names a median says little.
inline constexpr std::size_t names_to_compare = 4;
/// What counts as slow among those.
inline constexpr double small_ratio = 0.5;

/// How far samples speak for a slow one: the logarithm of how much likelier they are of a slow one than of another.
/// `low_share` is the share of low samples among all that were seen.
inline double likelihood(std::uint64_t low, std::uint64_t good, double low_share) {
    constexpr double of_slow = 0.9, share_min = 0.02, share_max = 0.5;
    const double share = std::clamp(low_share, share_min, share_max);
    return static_cast<double>(low) * std::log(of_slow / share) +
           static_cast<double>(good) * std::log((1 - of_slow) / (1 - share));
}

/// The standard deviation of values about `median`, by the median of their distances, so that a few far ones do not
/// count. Rates differ by factors, not by sums: of a median of 100, 50 is as far away as 200.
inline double deviation_of(const std::vector<double>& values, double median) {
    constexpr double mad_to_deviation = 1.4826;  // of a normal distribution
    constexpr double deviation_min = 0.02;       // values that are all alike differ by as much by chance
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const auto value : values) distances.push_back(std::abs(std::log(value / median)));
    return std::max(mad_to_deviation * median_of(std::move(distances)), deviation_min);
}

}  // namespace forebay::telemetry
