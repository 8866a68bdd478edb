// The rule compares a name's median with the median over names. Then the samples of the name walk by a likelihood: a
// sample below 0.8 of that median speaks for slow, any other sample against it. The weight depends on the share of low
// samples among the remaining names. A target at half speed needs about five samples on a busy system, and three on a
// quiet system. With one or two samples, only a name far away from all names is slow, by the median absolute deviation.

#include "path/telemetry/slow.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "path/telemetry/likelihood.hpp"

namespace forebay::telemetry {

namespace {

// One healthy name of 10,000 is reported, one slow name of 100 is missed: ln(0.99 / 0.0001).
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
    // If all names differ much, as on a system full of work, a low ratio says little.
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
        // The share comes from the remaining names, so the samples of a slow name do not make low samples look normal.
        const double share = others == 0 ? 1 : static_cast<double>(low - name.low) / static_cast<double>(others);
        if (is_slow(name, candidate, names.size(), share)) slow.push_back(candidate);
    }
    std::ranges::stable_sort(slow, {}, &Slow::ratio);
    return slow;
}

}  // namespace forebay::telemetry
