// Parses inputs of a plan: options of `forebay plan`, and the values of --what-if.

#pragma once

#include <string>
#include <vector>

#include "insight/advice/plan/plan.hpp"

namespace forebay::cli {

/// The measures of `text` for the input `key`: "12h" for mtbf, "463M" for drain_rate, with its cv "463M:0.1",
/// "supersede" for policy. Two more keys are slow_nodes and slow_targets, SHARE:RATIO as in 0.01:0.3. `named` is the
/// user's name for it, for errors and as the origin. Returns `refused` for an invalid value.
Result<std::vector<format::Measure>> plan_input_from(const std::string& key, const std::string& text,
                                                     const std::string& named);

/// "mtbf=3h,6h"
Result<advice::WhatIf> what_if_from(const std::string& text);

/// The value for people: "463 MB/s", "12.0 h".
std::string show_plan_value(advice::Unit unit, double value);
/// Uses hours for long times.
std::string show_long(double seconds);

/// Slow nodes and slow targets are two measures each.
inline constexpr const char* plan_pairs[] = {"slow_nodes", "slow_targets"};

}  // namespace forebay::cli
