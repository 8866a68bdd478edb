// What a search has found as advice of kind "profile", and as lines for people. Pure.

#pragma once

#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "insight/advice/tune/tuner.hpp"

namespace forebay::advice {

/// A choice as names and values, of all knobs in their order.
format::AdviceSetting setting_of(const std::vector<Knob>& knobs, const Choice& choice);

/// All trials as rows, with `kind`, what the best costs and takes as measures, and what was not applied as findings.
/// `key`, `lines` and who made it are the caller's.
format::Advice profile_of(const Tuner& tuner);

/// "stripe_count 2 -> 144: 6.1x", and one line for those that gain less than 3 %, another for those not measured.
std::vector<std::string> explanation(const std::vector<KnobWorth>& worths);

/// "agent.direct = true: 3 trials"
std::vector<std::string> not_applied(const Tuner& tuner);

/// What of a chosen setting is not the default, as lines of forebay.toml.
std::vector<std::string> toml_lines(const std::vector<Knob>& knobs, const Choice& choice);

}  // namespace forebay::advice
