// What a run has shown: the inputs of a plan for another run, and what a plan for this one must be compared with.

#pragma once

#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"
#include "path/telemetry/chronicle.hpp"

namespace forebay::advice {

/// Measures of the stream that has saved most bytes, or of `stream` where it is not empty, of origin `kept`. Inputs:
/// nodes, node_bytes, the rates of a node that is not slow, commit_seconds, step_seconds, save_every_steps, slots, slow
/// nodes, agent_cost_ratio, measured_nodes and measured_node_bytes; while its application lives also ends_in_seconds,
/// where its agents know the end of the job, and ahead_seconds, what they may still need for what is sealed. And what
/// came of it: save_seconds (layout and copy), ranks_seconds (ranks that waited for each other; in no other number),
/// visible_seconds, drain_seconds (with the commit), slack, each the median over saves.
/// `missing` where nothing of it has drained.
Result<std::vector<format::Measure>> measures_of_run(const telemetry::Chronicle& chronicle,
                                                     const std::string& stream = "");

}  // namespace forebay::advice
