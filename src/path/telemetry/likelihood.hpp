// Rules that decide from samples if one name of many is slow. Reports of runs share them with probes before a run. A
// sample is low below 0.8 of the median over all samples. A slow name has 9 low samples of 10; a healthy name has the
// low share of all samples.

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
/// The ratio that counts as slow among few names.
inline constexpr double small_ratio = 0.5;

/// The evidence that samples come from a slow name: the logarithm of the likelihood ratio of slow to healthy.
/// `low_share` is the share of low samples among all samples.
inline double likelihood(std::uint64_t low, std::uint64_t good, double low_share) {
    constexpr double of_slow = 0.9, share_min = 0.02, share_max = 0.5;
    const double share = std::clamp(low_share, share_min, share_max);
    return static_cast<double>(low) * std::log(of_slow / share) +
           static_cast<double>(good) * std::log((1 - of_slow) / (1 - share));
}

/// The standard deviation of values about `median`, from the median of their distances, so a few far values do not
/// count. Rates differ by factors, not by sums: from a median of 100, 50 is as far away as 200.
inline double deviation_of(const std::vector<double>& values, double median) {
    constexpr double mad_to_deviation = 1.4826;  // of a normal distribution
    constexpr double deviation_min = 0.02;       // equal values differ by this much by chance
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const auto value : values) distances.push_back(std::abs(std::log(value / median)));
    return std::max(mad_to_deviation * median_of(std::move(distances)), deviation_min);
}

}  // namespace forebay::telemetry
