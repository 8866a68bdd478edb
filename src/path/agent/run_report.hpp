// The report of an ended session in the run: RUN/forebay/report.txt for people, and RUN/forebay/summary.json
// (docs/formats/summary.md) for programs. Both replace the files of the session before.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"
#include "path/agent/event_sinks.hpp"

namespace forebay::agent {

/// With more nodes an agent does not read all timings. `forebay report` does, on request.
inline constexpr std::uint32_t reported_nodes_max = 512;

/// Call it in the agent of the run's first rank, at its end. `file` has run and identity. Does nothing without timings.
Result<> write_run_report(sys::Store& store, const NodeFileOfRun& file, std::uint32_t session);

}  // namespace forebay::agent
