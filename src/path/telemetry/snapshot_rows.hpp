// Matches the batches of a snapshot, and makes its row of a summary.

#pragma once

#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// A save that finds its slot free still takes some time to look: shorter waits do not count as waiting.
inline constexpr double wait_seconds_min = 1e-3;

/// The reports of the nodes on one snapshot: one batch per node, in the order of nodes. If a node reported twice,
/// because a second agent went on after the first, the newer batch counts.
struct Matched {
    std::vector<const format::TimingBatch*> batches;
};

/// In the order of the saves. Batches match by stream, step, snapshot_id and session.
std::vector<Matched> match(const Chronicle& chronicle);

/// interval_seconds stays 0 if no batch has it.
SnapshotRow row_of(const Matched& snapshot);

/// Sets intervals that row_of() left out, from the save before of the same stream and session. Sets slack.
void add_intervals(std::vector<SnapshotRow>& rows);

/// Reads a number of a file. Hostile files may have negative, infinite or NaN values: these become 0.
double seconds_from(double number);

/// Returns 0 if the end comes first, as with clocks of two nodes. Exact: between two times of day a double has steps of
/// 256 ns.
double seconds_between(std::int64_t begin_unix_ns, std::int64_t end_unix_ns);

}  // namespace forebay::telemetry
