// The nodes and storage targets of a summary, with their rates in each snapshot.

#pragma once

#include <string>
#include <vector>

#include "path/telemetry/snapshot_rows.hpp"

namespace forebay::telemetry {

std::vector<NodeRow> nodes_of(const Chronicle& chronicle);
std::vector<TargetRow> targets_of(const std::vector<Matched>& snapshots);

/// Rates divided by the median of their snapshot, so snapshots of different sizes compare. Only targets with a name
/// count: for "" the file system chose the place of the bytes.
std::vector<RateSample> target_samples(const std::vector<Matched>& snapshots);
/// A node that writes to a slow target is not slow itself: the time lost at slow targets is subtracted.
std::vector<RateSample> node_samples(const std::vector<Matched>& snapshots, const std::vector<Slow>& slow_targets);

}  // namespace forebay::telemetry
