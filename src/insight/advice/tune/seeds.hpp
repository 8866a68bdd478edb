// Settings that are good by rule, with which a search begins: where they start matters more than how it searches. Pure.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/tune/knob.hpp"

namespace forebay::advice {

/// What the rules look at.
struct Site {
    std::uint64_t nodes = 1;
    std::uint64_t targets = 0;  // storage targets of the file system; 0: it does not tell of any
    std::uint64_t node_bytes = 0;
};

/// A value for some knobs; of the others the default.
using Rule = std::vector<std::pair<std::string, std::string>>;

/// The rules for a site, the most promising first.
std::vector<Rule> rules_of(const Site& site);

/// A rule as a choice: where a knob has not its value, the nearest one of an ordered knob, else the default.
Choice choice_of(const std::vector<Knob>& knobs, const Rule& rule);

/// The rules of a site as choices, each once, without the defaults.
std::vector<Choice> seeds_of(const std::vector<Knob>& knobs, const Site& site);

}  // namespace forebay::advice
