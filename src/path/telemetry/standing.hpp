// The state of a run, from the newest status lines of its agents.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/status_line.hpp"

namespace forebay::telemetry {

enum class RunState {
    unknown,    // no agent has reported
    running,    // application and agents
    draining,   // the application ended or died, and agents drain the rest
    lingering,  // all is committed, and agents keep staged copies of a dead application for its restart
    ended,      // agents ended with everything committed
    died,       // the same, but the application never closed the run
    left,       // an agent ended and left work
    silent,     // agents at work do not report any more, and no agent is at work
};
/// Returns "running" and so on; for `left` "left with work".
const char* name_of(RunState state);

/// The state of the newest session.
struct RunStanding {
    RunState state = RunState::unknown;
    std::size_t agents = 0, at_work = 0, left = 0;
    std::vector<std::string> silent;        // nodes with stale agents, in any state
    std::int64_t silent_since_unix_ns = 0;  // of the first silent agent
};
RunStanding standing_of(const std::vector<format::StatusLine>& statuses, std::int64_t now_unix_ns);

/// True if an agent at work is gone, or did not report for three of its periods and a second. The second allows for
/// clocks that differ.
bool is_stale(const format::StatusLine& status, std::int64_t now_unix_ns);

}  // namespace forebay::telemetry
