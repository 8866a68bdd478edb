// What is said to another program that chooses the trials, and what it says: a JSON object a line. Pure.
// docs/how-to/tune.md shows both.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "insight/advice/tune/tuner.hpp"

namespace forebay::advice {

/// The first line: the knobs with their values and defaults, and the budget.
std::string knobs_line(const Tuner& tuner, double budget);

/// Of the newest trial: setting, share, cost, whether it counts and why not, and what is spent.
std::string outcome_line(const Tuner& tuner);

/// Whether `text` is an object of JSON; the beginning of one is none.
bool is_whole(std::string_view text);

/// A trial that the other program wants: {"setting": {"agent.in_flight": "8"}, "share": 0.25}. Knobs that it leaves out
/// have their defaults, a share that it leaves out is 1. Nothing for {"done": true}. `refused` for all else.
Result<std::optional<Trial>> read_trial(std::string_view line, const std::vector<Knob>& knobs);

}  // namespace forebay::advice
