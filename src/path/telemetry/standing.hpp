// How a run stands, by the newest status lines of its agents.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/status_line.hpp"

namespace forebay::telemetry {

enum class RunState {
    unknown,    // no agent has told of itself
    running,    // application and agents
    draining,   // agents drain what an application left that has ended or died
    lingering,  // all is committed, and agents keep the staged copies of an application that died for its restart
    ended,      // agents have ended with everything committed
    died,       // the same, but the application never closed the run
    left,       // an agent has ended and left work
    silent,     // agents that were at work tell nothing any more, and no other is at work
};
/// "running"; of `left` "left with work".
const char* name_of(RunState state);

/// Of the newest session.
struct RunStanding {
    RunState state = RunState::unknown;
    std::size_t agents = 0, at_work = 0, left = 0;
    std::vector<std::string> silent;        // nodes whose agents are stale, whatever the state
    std::int64_t silent_since_unix_ns = 0;  // of the first of them
};
RunStanding standing_of(const std::vector<format::StatusLine>& statuses, std::int64_t now_unix_ns);

/// Of an agent at work: it has told nothing for three of its periods, and a second for clocks that differ, or it is
/// gone.
bool is_stale(const format::StatusLine& status, std::int64_t now_unix_ns);

}  // namespace forebay::telemetry
