#include "bench/spread.hpp"

#include <algorithm>
#include <random>

#include "core/base/check.hpp"

namespace forebay::bench {

namespace {

constexpr int resamples = 2000;

double of_sorted(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Quartiles spread_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::ranges::sort(samples);
    return {.median = of_sorted(samples, 0.5),
            .min = samples.front(),
            .max = samples.back(),
            .lower_quartile = of_sorted(samples, 0.25),
            .upper_quartile = of_sorted(samples, 0.75),
            .count = samples.size()};
}

double at_fraction(std::vector<double> samples, double fraction) {
    if (samples.empty()) return 0;
    std::ranges::sort(samples);
    return of_sorted(samples, fraction);
}

ConfidenceInterval median_interval(const std::vector<double>& samples) {
    if (samples.empty()) return {};
    std::mt19937_64 random(samples.size());
    std::uniform_int_distribution<std::size_t> place(0, samples.size() - 1);
    std::vector<double> medians, again(samples.size());
    for (int i = 0; i < resamples; ++i) {
        for (auto& sample : again) sample = samples[place(random)];
        medians.push_back(at_fraction(again, 0.5));
    }
    std::ranges::sort(medians);
    return {of_sorted(medians, 0.025), of_sorted(medians, 0.975)};
}

std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b) {
    FB_CHECK(a.size() == b.size(), "alternating runs must be equal in number");
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
    return ratios;
}

}  // namespace forebay::bench
