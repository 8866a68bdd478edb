// One node of a run as a process of a timeline. It has tracks for its snapshots, its ranks' saves, its agent, each
// parallel writer thread and its analyses. Counters show bytes a second and bytes waiting for a drain.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/report/trace_sink.hpp"

namespace forebay::format {
struct TimingBatch;
}

namespace forebay::report {

/// The sums over all nodes so far.
struct TraceCounts {
    std::uint64_t slices = 0, points = 0, tracks = 0;
    std::uint64_t left_out = 0;  // slices with impossible times, or without a free track
};

class NodeTrace {
public:
    NodeTrace(TraceSink& sink, std::string& out) : sink_(sink), out_(out) {}
    /// `batches` belong to the node, in any order.
    void add(std::uint32_t process, const std::string& name, const std::vector<format::TimingBatch>& batches);
    const TraceCounts& counts() const { return counts_; }

private:
    TraceTrack next_track(std::uint32_t process, const std::string& name, const std::string& unit = "");
    void add_counters(std::uint32_t process, const std::vector<format::TimingBatch>& batches);

    TraceSink& sink_;
    std::string& out_;
    TraceCounts counts_;
};

/// The first moment in these batches that add() would show; 0: none.
std::uint64_t first_moment(const std::vector<format::TimingBatch>& batches);

}  // namespace forebay::report
