// Puts slices of a node on tracks. In a viewer, slices of a track must be nested or must not overlap. But several
// writers of a node write at once, and after a clock jump a rank seems to save twice at a time.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/timing.hpp"

namespace forebay::report {

/// A timing of a node, or a snapshot as a whole.
struct TraceSpan {
    std::uint64_t start_unix_ns = 0, end_unix_ns = 0;
    std::uint32_t batch = 0;
    std::uint32_t timing = 0;     // index in the batch, or whole_snapshot
    bool may_hold = false;        // other spans may lie within it
    bool may_lie_within = false;  // it may lie within another span
    std::uint32_t depth = 0;      // how many spans of its lane it lies within
};
inline constexpr std::uint32_t whole_snapshot = ~std::uint32_t{0};

struct Lanes {
    std::vector<std::vector<TraceSpan>> lanes;  // sorted by start; a span comes before the spans within it
    std::uint64_t left_out = 0;                 // spans without a lane: more than lanes_max overlap
};
inline constexpr std::size_t lanes_max = 64;

/// Each span goes to the first lane with room. A span may end up to 2 us after the span around it, because durations
/// are whole microseconds; it is cut.
Lanes lanes_of(std::vector<TraceSpan> spans);

}  // namespace forebay::report
