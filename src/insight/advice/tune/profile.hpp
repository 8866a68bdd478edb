// The result of a search as advice of kind "profile", and as lines for people. Pure.

#pragma once

#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "insight/advice/tune/tuner.hpp"

namespace forebay::advice {

/// A choice as names and values of all knobs, in order.
format::AdviceSetting setting_of(const std::vector<Knob>& knobs, const Choice& choice);

/// All trials as rows with their kind, the best setting's cost and measures, and settings that were not applied as
/// findings. The caller adds `key`, `lines` and the maker.
format::Advice profile_of(const Tuner& tuner);

/// "stripe_count 2 -> 144: 6.1x". One line lists changes that gain less than 3 %, another changes not measured.
std::vector<std::string> explanation(const std::vector<KnobWorth>& worths);

/// "agent.direct = true: 3 trials"
std::vector<std::string> not_applied(const Tuner& tuner);

/// The values of a setting that differ from the defaults, as lines of forebay.toml.
std::vector<std::string> toml_lines(const std::vector<Knob>& knobs, const Choice& choice);

}  // namespace forebay::advice
