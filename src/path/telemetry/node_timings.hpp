// Reads the timings of a run node by node, so memory holds only one node's timings at a time. A node keeps at most 8
// MiB.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/store.hpp"

namespace forebay::telemetry {

/// The files of a node: the full file that its agent renamed to .old, and the newer file.
struct NodeFiles {
    std::vector<std::string> paths;
    std::uint64_t bytes = 0;
};

/// In the order of the file names. `missing` if there is no such run. A run without timings gives an empty list.
Result<std::vector<NodeFiles>> timing_files(sys::Store& store, const std::string& run);

/// Returns the whole batches in the files of a node, oldest first. `problems` gets a line for each file that is
/// unreadable or has damaged bytes.
std::vector<format::TimingBatch> read_timings(sys::Store& store, const NodeFiles& files, bool with_timings,
                                              std::vector<std::string>& problems);

}  // namespace forebay::telemetry
