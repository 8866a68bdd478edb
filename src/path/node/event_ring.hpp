// The newest events of an agent on its control page, for programs that watch it. agent/events.hpp knows their meaning;
// here an event is only a few numbers.
//
// Threads: one writer at a time, the agent; any number of readers in any process. Readers change nothing.

#pragma once

#include <cstdint>
#include <vector>

#include "path/node/control.hpp"

namespace forebay::node {

struct PageEvent {
    std::uint64_t number = 0;  // from 1 on, in order
    std::int64_t unix_ns = 0;
    std::uint32_t what = 0;
    std::uint32_t stream = streams_max;  // index into Control::streams; streams_max: no stream
    std::int64_t step = -1;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

/// Gives the event its number and overwrites the oldest event.
void put_event(Control& page, const PageEvent& event);

/// Events with numbers above `seen`; sets `seen` to the last number. A late reader gets the newest events_max: with 300
/// new events after `seen` = 10, it gets the numbers 55 to 310.
std::vector<PageEvent> events_after(const Control& page, std::uint64_t& seen);

}  // namespace forebay::node
