// Inputs of a plan as people write them: options of `forebay plan`, and the values of its --what-if.

#pragma once

#include <string>
#include <vector>

#include "insight/advice/plan/plan.hpp"

namespace forebay::cli {

/// The measures that `text` gives for the input `key`: "12h" for mtbf, "463M" for drain_rate, with its cv "463M:0.1",
/// "supersede" for policy. Keys beside those of the inputs: slow_nodes and slow_targets, SHARE:RATIO as in 0.01:0.3.
/// `named` is how the user named it, for errors and as the origin. `refused` for what it cannot be.
Result<std::vector<format::Measure>> plan_input_from(const std::string& key, const std::string& text,
                                                     const std::string& named);

/// "mtbf=3h,6h"
Result<advice::WhatIf> what_if_from(const std::string& text);

/// The value as it is shown: "463 MB/s", "12.0 h".
std::string show_plan_value(advice::Unit unit, double value);
/// Hours where there are many.
std::string show_long(double seconds);

/// Slow nodes and slow targets, which are two measures each.
inline constexpr const char* plan_pairs[] = {"slow_nodes", "slow_targets"};

}  // namespace forebay::cli
