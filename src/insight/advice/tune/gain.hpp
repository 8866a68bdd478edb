// The cost of the defaults compared with the best setting, and its certainty.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/advice/tune/tuner.hpp"

namespace forebay::advice {

struct Gain {
    double ratio = 1;                                     // cost of the defaults / cost of the best setting
    std::size_t best_runs = 0, defaults_runs = 0;         // runs of equal bytes behind the ratio
    double scatter = 0;                                   // of repeated runs of any setting: 0.12 is 12 %
    std::optional<std::pair<double, double>> interval{};  // holds the true ratio in 9 of 10 searches

    bool is_certain() const { return interval && interval->first > 1; }
};

/// Nothing if the defaults or the best setting have no cost. The interval follows from the scatter of all settings that
/// ran more than once; with fewer than three repeated runs there is none.
std::optional<Gain> gain_of(const Tuner& tuner);

/// "the defaults take 1.20 times as long (1.05 to 1.37 in 9 of 10 searches, ...)"; a further line if the gain is not
/// certain.
std::vector<std::string> gain_lines(const Gain& gain);

/// Why the options' factors do not multiply to the gain; "" if they do, or if none is known.
std::string parts_line(const Gain& gain, const std::vector<KnobWorth>& worths);

}  // namespace forebay::advice
