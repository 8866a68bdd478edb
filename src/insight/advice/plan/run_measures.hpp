// Measures of a finished or running run: inputs for a plan of another run, and values to compare a plan with.

#pragma once

#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"
#include "path/telemetry/chronicle.hpp"

namespace forebay::advice {

/// Measures of origin `kept` of `stream`, or if it is empty of the stream with the most bytes. Inputs: nodes,
/// node_bytes, the rates of nodes that are not slow, commit_seconds, step_seconds, save_every_steps, slots, slow nodes,
/// agent_cost_ratio, measured_nodes and measured_node_bytes. For a live application also ends_in_seconds, if its agents
/// know the end of the job, and ahead_seconds, the time the agents may still need for sealed snapshots. Results, each
/// the median over saves: save_seconds (layout and copy), ranks_seconds (ranks waiting for each other; in no other
/// number), visible_seconds, drain_seconds (with the commit), slack.
/// `missing` if nothing has drained.
Result<std::vector<format::Measure>> measures_of_run(const telemetry::Chronicle& chronicle,
                                                     const std::string& stream = "");

}  // namespace forebay::advice
