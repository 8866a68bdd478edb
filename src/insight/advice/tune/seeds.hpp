// Settings that are good by rule. A search starts with them: its start matters more than its method. Pure.

#pragma once

#include <cstdint>
#include <vector>

#include "insight/advice/tune/knob.hpp"

namespace forebay::advice {

/// The inputs of the rules.
struct Site {
    std::uint64_t nodes = 1;
    std::uint64_t targets = 0;  // storage targets of the file system; 0: unknown
    std::uint64_t node_bytes = 0;
};

/// Values for some knobs; the rest have their defaults.
using Rule = std::vector<std::pair<std::string, std::string>>;

/// The rules for a site, the most promising first.
std::vector<Rule> rules_of(const Site& site);

/// A rule as a choice. If a knob lacks the value, it gets the nearest number, or its default.
Choice choice_of(const std::vector<Knob>& knobs, const Rule& rule);

/// The rules of a site as choices, each once, without the defaults.
std::vector<Choice> seeds_of(const std::vector<Knob>& knobs, const Site& site);

}  // namespace forebay::advice
