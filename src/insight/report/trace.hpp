// The timeline of a run as one file, for Perfetto (ui.perfetto.dev) or Chrome's trace viewer.
// docs/reference/report.md#trace.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/report/trace_node.hpp"

namespace forebay::report {

enum class TraceFormat { perfetto, chrome };

struct TraceRequest {
    std::string run;
    std::string to;
    TraceFormat format = TraceFormat::perfetto;
    bool all = false;           // else the slowest nodes, and as many of the others by chance
    std::uint32_t session = 0;  // of this one alone; 0: of all
    std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
};
inline constexpr std::size_t slowest_nodes = 16, random_nodes = 16;

struct TraceReport {
    std::uint64_t bytes = 0;
    std::uint64_t nodes_of_run = 0;            // that have timings of what was asked for
    std::uint64_t dropped = 0;                 // timings that agents had no room for
    std::vector<std::string> slowest, others;  // nodes that are shown; of --all they stand in `others`
    std::uint32_t seed = 0;                    // by which the others were chosen: from the names of all nodes
    TraceCounts counts;
    std::vector<std::string> problems;
};

/// Bytes of files that are read, of how many: each is read twice.
using TraceProgress = std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_all)>;

/// Writes `to`, which is whole or as it was at any instant. Memory holds one node's timings at a time. `missing` where
/// the run has no timings of what is asked for.
Result<TraceReport> write_trace(sys::Store& store, const TraceRequest& request, const TraceProgress& progress);

}  // namespace forebay::report
