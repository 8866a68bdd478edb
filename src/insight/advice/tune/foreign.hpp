// The protocol with another program that chooses the trials: one JSON object a line, both ways. Pure.
// docs/how-to/tune.md shows both directions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "insight/advice/tune/tuner.hpp"

namespace forebay::advice {

/// The first line: the knobs with their values and defaults, and the budget.
std::string knobs_line(const Tuner& tuner, double budget);

/// The newest trial: setting, share, cost, if it counts and why not, and the budget spent.
std::string outcome_line(const Tuner& tuner);

/// True if `text` is a whole JSON object, not only its beginning.
bool is_whole(std::string_view text);

/// A trial requested by the other program: {"setting": {"agent.in_flight": "8"}, "share": 0.25}. Missing knobs have
/// their defaults; a missing share is 1. Nothing for {"done": true}. `refused` for everything else.
Result<std::optional<Trial>> read_trial(std::string_view line, const std::vector<Knob>& knobs);

}  // namespace forebay::advice
