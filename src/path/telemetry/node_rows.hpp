// Nodes and storage targets of a summary, and how fast each was in each snapshot.

#pragma once

#include <string>
#include <vector>

#include "path/telemetry/snapshot_rows.hpp"

namespace forebay::telemetry {

std::vector<NodeRow> nodes_of(const Chronicle& chronicle);
std::vector<TargetRow> targets_of(const std::vector<Matched>& snapshots);

/// Rates divided by the median of their snapshot, so that snapshots of different sizes compare. Of targets those with a
/// name alone: "" is wherever the file system has put the bytes.
std::vector<RateSample> target_samples(const std::vector<Matched>& snapshots);
/// A node that writes to a slow target is not slow itself: the time that those targets cost it is left out.
std::vector<RateSample> node_samples(const std::vector<Matched>& snapshots, const std::vector<Slow>& slow_targets);

}  // namespace forebay::telemetry
