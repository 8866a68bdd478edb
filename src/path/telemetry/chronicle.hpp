// All records that a run keeps of its course: batches of timings, the newest status lines and the events of its agents,
// read from RUN/forebay/. Unreadable files are reported as problems, and the rest is read all the same.
//
// The input may come from hostile or broken runs: names in it may hold markup, line feeds and escape sequences of
// terminals. Escape them for the place in which you show them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/status_line.hpp"
#include "core/format/timing.hpp"
#include "core/sys/store.hpp"

namespace forebay::telemetry {

/// A line of RUN/forebay/events-*.jsonl (docs/formats/events.md).
struct EventLine {
    std::int64_t unix_ns = 0;
    std::string event, host, stream, text;
    std::int64_t step = -1;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

struct Chronicle {
    std::string run;                                // absolute
    std::vector<format::TimingBatch> batches = {};  // by saved_unix_ns, then node
    std::vector<format::StatusLine> statuses = {};  // by host, then virtual node
    std::vector<EventLine> events = {};             // by time
    std::vector<std::string> problems = {};         // unreadable files, skipped bytes
};

struct ChronicleOptions {
    bool with_timings = true;   // if false, batches come without their timings
    std::uint32_t session = 0;  // read only this session, without events; 0: all sessions
    bool statuses_alone = false;
};

/// `missing` if there is no such run, or if it was copied without its directory `forebay`. A run from before timings
/// existed has no timings, and that is no error.
Result<Chronicle> read_chronicle(sys::Store& store, const std::string& run, const ChronicleOptions& options = {});

/// Returns "nid00412". If a machine has several nodes: "nid00412/3".
std::string node_name(const std::string& host, const std::string& virtual_node);
std::string node_name(const format::TimingBatch& batch);
std::string node_name(const format::StatusLine& status);

}  // namespace forebay::telemetry
