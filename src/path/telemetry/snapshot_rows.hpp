// Batches of one snapshot together, and the row of a summary that follows.

#pragma once

#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// A save that found its slot free has looked for it all the same: shorter ones waited for nothing.
inline constexpr double wait_seconds_min = 1e-3;

/// What nodes have told of one snapshot: one batch a node, by node. Of a node that has told of it twice, since a second
/// agent went on after the first, the newer batch.
struct Matched {
    std::vector<const format::TimingBatch*> batches;
};

/// By the time of their saves. Batches match by stream, step, snapshot_id and session.
std::vector<Matched> match(const Chronicle& chronicle);

/// Without interval_seconds where no batch tells it.
SnapshotRow row_of(const Matched& snapshot);

/// Fills in what row_of() left out, by the save before of the same stream and session; and slack.
void add_intervals(std::vector<SnapshotRow>& rows);

/// A number of a file, which hostile ones may have below 0, infinite or not a number: then 0.
double seconds_from(double number);

/// 0 where the end comes first, as by clocks of two nodes. Exact: a double has 256 ns between two times of day.
double seconds_between(std::int64_t begin_unix_ns, std::int64_t end_unix_ns);

}  // namespace forebay::telemetry
