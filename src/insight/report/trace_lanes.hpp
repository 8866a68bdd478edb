// Which slices of a node lie on which track. Viewers demand of a track that two of its slices do not overlap, or that
// one lies within the other; writers of a node write at once, and clocks that jump make a rank save twice at a time.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/timing.hpp"

namespace forebay::report {

/// A timing of a node, or a snapshot as a whole.
struct TraceSpan {
    std::uint64_t start_unix_ns = 0, end_unix_ns = 0;
    std::uint32_t batch = 0;
    std::uint32_t timing = 0;     // of the batch; whole_snapshot
    bool may_hold = false;        // others may lie within it
    bool may_lie_within = false;  // it may lie within another one
    std::uint32_t depth = 0;      // how many of its lane it lies within
};
inline constexpr std::uint32_t whole_snapshot = ~std::uint32_t{0};

struct Lanes {
    std::vector<std::vector<TraceSpan>> lanes;  // each by beginnings, and what holds others before these
    std::uint64_t left_out = 0;                 // where more than lanes_max overlap
};
inline constexpr std::size_t lanes_max = 64;

/// Each on the first lane where it fits. One that ends at most 2 us after what it lies within is cut to that: durations
/// are whole microseconds.
Lanes lanes_of(std::vector<TraceSpan> spans);

}  // namespace forebay::report
