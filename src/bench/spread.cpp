#include "bench/spread.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace forebay::bench {

namespace {

double at_fraction(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Quartiles spread_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::ranges::sort(samples);
    return {.median = at_fraction(samples, 0.5),
            .min = samples.front(),
            .max = samples.back(),
            .lower_quartile = at_fraction(samples, 0.25),
            .upper_quartile = at_fraction(samples, 0.75),
            .count = samples.size()};
}

std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b) {
    FB_CHECK(a.size() == b.size(), "runs made in turns are as many");
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
    return ratios;
}

}  // namespace forebay::bench
