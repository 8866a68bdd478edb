// The timings of a run, a node at a time: for whoever needs them all, and not all at once. A node keeps at most 8 MiB.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/store.hpp"

namespace forebay::telemetry {

/// The files of one node: that which its agent had put aside when it was full, and the newer one.
struct NodeFiles {
    std::vector<std::string> paths;
    std::uint64_t bytes = 0;
};

/// By the names of the files. `missing` where there is no such run; a run that keeps no timings has none.
Result<std::vector<NodeFiles>> timing_files(sys::Store& store, const std::string& run);

/// What is whole in the files of a node, the oldest first. `problems` gets a line for each file that cannot be read, or
/// of which bytes are damaged.
std::vector<format::TimingBatch> read_timings(sys::Store& store, const NodeFiles& files, bool with_timings,
                                              std::vector<std::string>& problems);

}  // namespace forebay::telemetry
