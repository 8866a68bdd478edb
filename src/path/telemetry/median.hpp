// Medians and other quantiles of samples.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace forebay::telemetry {

/// The value below which the share `q` of the samples lies, interpolated between two samples; 0 without samples.
inline double quantile_of(std::vector<double> samples, double q) {
    if (samples.empty()) return 0;
    std::ranges::sort(samples);
    const double place = q * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
}

inline double median_of(std::vector<double> samples) { return quantile_of(std::move(samples), 0.5); }

}  // namespace forebay::telemetry
