// Why a save or a drain was slow, in one sentence with the numbers behind it: rules over the batches of a snapshot and
// of those before it. The agent applies them to what its own node has told, a report to what all nodes have.

#pragma once

#include <string>
#include <vector>

#include "core/format/timing.hpp"

namespace forebay::telemetry {

using Batches = std::vector<const format::TimingBatch*>;

/// Snapshots before that say what is usual: as many as a window of the last hour or so.
inline constexpr std::size_t usual_batches_max = 64;

/// Whether the drain went as fast as a limit of the agent allowed, and no faster.
bool is_limited(const format::TimingBatch& batch);

/// Sentences about the snapshot that `now` are the batches of, a node each; none where it went as those `before` it,
/// which are of the same stream, of any nodes, in their order.
std::vector<std::string> why_slow(const Batches& now, const Batches& before);

}  // namespace forebay::telemetry
