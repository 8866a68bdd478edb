// The newest events of an agent on its control page, for programs that watch it. What an event means is the agent's
// business (agent/events.hpp); here it is a few numbers.
//
// Threads: one writer at a time, the agent; any number of readers in any process, which change nothing.

#pragma once

#include <cstdint>
#include <vector>

#include "path/node/control.hpp"

namespace forebay::node {

struct PageEvent {
    std::uint64_t number = 0;  // from 1 on, in their order
    std::int64_t unix_ns = 0;
    std::uint32_t what = 0;
    std::uint32_t stream = streams_max;  // index into Control::streams; streams_max: of none
    std::int64_t step = -1;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

/// Gives the event its number and takes the place of the oldest one.
void put_event(Control& page, const PageEvent& event);

/// Events of numbers above `seen`, which becomes the number of the last one. A reader that comes late gets the newest
/// events_max: with 300 new ones since `seen` = 10, those of numbers 55 to 310.
std::vector<PageEvent> events_after(const Control& page, std::uint64_t& seen);

}  // namespace forebay::node
