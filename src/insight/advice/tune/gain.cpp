#include "insight/advice/tune/gain.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "core/base/units.hpp"

namespace forebay::advice {

namespace {

// With fewer repeats the scatter is only a guess.
constexpr std::size_t repeats_min = 3;
// If the product of the factors is this near to the gain, no explanation is needed.
constexpr double product_apart_max = 0.05;

// The 95th percentile of Student's t with `freedom` degrees of freedom, within 2 % from 3 on: Abramowitz and Stegun,
// 26.7.5.
double student_95(double freedom) {
    constexpr double z = 1.6449;
    const double z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

}  // namespace

std::optional<Gain> gain_of(const Tuner& tuner) {
    const auto best = tuner.best(), defaults = tuner.defaults();
    std::map<std::pair<Choice, double>, std::vector<double>> logs;
    for (const auto& observation : tuner.observations())
        if (observation.learned && observation.outcome.error.empty())
            logs[{observation.trial.choice, observation.trial.share}].push_back(std::log(observation.outcome.cost));
    Gain gain;
    double squares = 0;
    std::size_t repeats = 0;
    for (const auto& [what, costs] : logs) {
        double mean = 0;
        for (const auto cost : costs) mean += cost / static_cast<double>(costs.size());
        for (const auto cost : costs) squares += (cost - mean) * (cost - mean);
        repeats += costs.size() - 1;
    }
    // Defaults that were slow at a quarter never ran in full.
    for (const double share : {1.0, 0.25}) {
        const auto own = tuner.cost_of(best, share), other = tuner.cost_of(defaults, share);
        if (!own || !other) continue;
        gain.ratio = *other / *own;
        gain.best_runs = logs[{best, share}].size();
        gain.defaults_runs = logs[{defaults, share}].size();
        if (repeats < repeats_min || best == defaults) return gain;
        const double sigma = std::sqrt(squares / static_cast<double>(repeats));
        gain.scatter = std::expm1(sigma);
        const double apart =
            student_95(static_cast<double>(repeats)) * sigma *
            std::sqrt(1 / static_cast<double>(gain.best_runs) + 1 / static_cast<double>(gain.defaults_runs));
        gain.interval = {gain.ratio * std::exp(-apart), gain.ratio * std::exp(apart)};
        return gain;
    }
    return std::nullopt;
}

std::vector<std::string> gain_lines(const Gain& gain) {
    auto line = fmt::format("the defaults take {:.2f} times as long", gain.ratio);
    if (!gain.interval) return {line + "; too few runs were repeated to state a certainty"};
    line += fmt::format(" ({:.2f} to {:.2f} in 9 of 10 searches)", gain.interval->first, gain.interval->second);
    const auto from = fmt::format("from {} of them and {} of the best setting; repeated runs differ by {:.0f} %",
                                  show_count(gain.defaults_runs, "run"), gain.best_runs, gain.scatter * 100);
    if (gain.is_certain()) return {line, from};
    return {line, from, "so no gain is certain: search again with a larger --budget, or on a quieter machine"};
}

std::string parts_line(const Gain& gain, const std::vector<KnobWorth>& worths) {
    double product = 1;
    std::size_t known = 0;
    for (const auto& worth : worths) {
        if (worth.trials == 0) continue;
        product *= worth.ratio;
        ++known;
    }
    if (known == 0 || std::abs(product / gain.ratio - 1) < product_apart_max) return {};
    return fmt::format(
        "these multiply to {:.2f} and not to {:.2f}: each compares the best setting with the same setting without one "
        "option, and options help or hinder each other",
        product, gain.ratio);
}

}  // namespace forebay::advice
