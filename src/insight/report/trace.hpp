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
    bool all = false;           // otherwise the slowest nodes and as many random nodes
    std::uint32_t session = 0;  // only this session; 0: all sessions
    std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
};
inline constexpr std::size_t slowest_nodes = 16, random_nodes = 16;

struct TraceReport {
    std::uint64_t bytes = 0;
    std::uint64_t nodes_of_run = 0;            // nodes with requested timings
    std::uint64_t dropped = 0;                 // dropped by agents for lack of room
    std::vector<std::string> slowest, others;  // shown nodes; with --all all are in `others`
    std::uint32_t seed = 0;                    // of the random choice: from the names of all nodes
    TraceCounts counts;
    std::vector<std::string> problems;
};

/// Counts bytes of the files read. Each file is read twice.
using TraceProgress = std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_all)>;

/// Writes `to` atomically: it is whole, or as before. Memory holds the timings of one node at a time. `missing` if the
/// run has no requested timings.
Result<TraceReport> write_trace(sys::Store& store, const TraceRequest& request, const TraceProgress& progress);

}  // namespace forebay::report
