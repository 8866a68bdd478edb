// The rule. A name's median is compared with the median over names; its samples walk by a likelihood: each sample below
// 0.8 of that median speaks for a slow one, each other sample against it, by how often the samples of all are that low.
// On a busy system it takes some five samples of a target at half speed to name it, on a quiet one three. One or two
// samples name only what is far away from all others, by the median absolute deviation.

#include "path/telemetry/slow.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "path/telemetry/likelihood.hpp"

namespace forebay::telemetry {

namespace {

// Wrongly named 1 of 10,000, wrongly passed 1 of 100: ln(0.99 / 0.0001).
constexpr double walk_end = 9.20;
constexpr std::uint64_t samples_to_walk = 3;
constexpr double z_min = 3;
constexpr double few_ratio = 0.25, few_z = 8;  // with fewer samples

struct Name {
    std::vector<double> rates;
    double median = 0;
    std::uint64_t low = 0;
};

bool is_slow(const Name& name, const Slow& slow, std::size_t names, double low_share) {
    if (slow.ratio >= low_ratio) return false;
    if (names < names_to_compare)
        return slow.ratio < small_ratio && slow.samples >= samples_to_walk && name.low == slow.samples;
    if (slow.samples < samples_to_walk) return slow.ratio < few_ratio && slow.z > few_z;
    // Where all differ much from one another, as on a system that is full of work, a low ratio says little.
    if (slow.z < z_min) return false;
    return likelihood(name.low, slow.samples - name.low, low_share) > walk_end;
}

}  // namespace

std::vector<Slow> slow_ones(const std::vector<RateSample>& samples) {
    std::map<std::string, Name> names;
    for (const auto& sample : samples)
        if (std::isfinite(sample.rate) && sample.rate > 0) names[sample.name].rates.push_back(sample.rate);
    if (names.size() < 2) return {};
    std::vector<double> medians;
    medians.reserve(names.size());
    for (auto& [text, name] : names) medians.push_back(name.median = median_of(name.rates));
    const double median = median_of(medians);
    const double deviation = deviation_of(medians, median);
    std::uint64_t all = 0, low = 0;
    for (auto& [text, name] : names) {
        name.low = static_cast<std::uint64_t>(
            std::ranges::count_if(name.rates, [&](double rate) { return rate < low_ratio * median; }));
        all += name.rates.size();
        low += name.low;
    }
    std::vector<Slow> slow;
    for (const auto& [text, name] : names) {
        const Slow candidate{text, name.median / median, std::log(median / name.median) / deviation, name.rates.size()};
        const auto others = all - candidate.samples;
        const double share = others == 0 ? 1 : static_cast<double>(low - name.low) / static_cast<double>(others);
        if (is_slow(name, candidate, names.size(), share)) slow.push_back(candidate);
    }
    std::ranges::stable_sort(slow, {}, &Slow::ratio);
    return slow;
}

}  // namespace forebay::telemetry
