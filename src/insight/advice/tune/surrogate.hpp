// What a setting costs, by all trials of it and of settings like it: a Gaussian process over the choices (Rasmussen and
// Williams, 2006, algorithm 2.1). One lucky trial among dear neighbours counts for less than its own cost says. Pure.

#pragma once

#include <vector>

#include "insight/advice/tune/knob.hpp"

namespace forebay::advice {

/// All costs of one choice, as logarithms, those of trials at a quarter brought to those in full.
struct CostsOfChoice {
    Choice choice;
    std::vector<double> logs;  // at least one
};

/// The expected logarithm of the cost of each, in their order. Of more than 400 those whose own costs are least are
/// judged together, the others by themselves.
std::vector<double> expected_logs(const std::vector<Knob>& knobs, const std::vector<CostsOfChoice>& choices);

}  // namespace forebay::advice
