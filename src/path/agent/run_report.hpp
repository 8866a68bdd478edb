// What a session cost and did, in the run when it has ended: RUN/forebay/report.txt for people, and
// RUN/forebay/summary.json (docs/formats/summary.md) for programs. Each replaces that of the session before.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"
#include "path/agent/event_sinks.hpp"

namespace forebay::agent {

/// Of more nodes one agent does not read what all have told: `forebay report` does, when somebody asks.
inline constexpr std::uint32_t reported_nodes_max = 512;

/// By the agent of the run's first rank, at its end; `file` names run and identity. Nothing where no timings are kept.
Result<> write_run_report(sys::Store& store, const NodeFileOfRun& file, std::uint32_t session);

}  // namespace forebay::agent
