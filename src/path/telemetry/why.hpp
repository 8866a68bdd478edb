// Explains a slow save or drain in one sentence with the numbers behind it: rules over the batches of a snapshot and of
// earlier snapshots. The agent applies them to the batches of its own node, a report to the batches of all nodes.

#pragma once

#include <string>
#include <vector>

#include "core/format/timing.hpp"

namespace forebay::telemetry {

using Batches = std::vector<const format::TimingBatch*>;

/// The number of earlier snapshots that define the usual times: a window of the last hour or so.
inline constexpr std::size_t usual_batches_max = 64;

/// True if the drain was as fast as a limit of the agent allowed.
bool is_limited(const format::TimingBatch& batch);

/// Sentences about the snapshot with the batches `now`, one per node. `before` holds earlier batches of the same stream
/// from any nodes, in their order. If the snapshot went as usual, there is no sentence.
std::vector<std::string> why_slow(const Batches& now, const Batches& before);

}  // namespace forebay::telemetry
