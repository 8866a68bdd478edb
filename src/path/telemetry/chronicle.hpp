// All that a run has kept of how it went: batches of timings, the newest status lines and the events of its agents,
// read from RUN/forebay/. What cannot be read is said, and keeps nothing else from being read.
//
// Files of hostile or broken runs are input here: names in them may hold markup, line feeds and escapes of terminals.
// Whoever shows them escapes them for the place where they are shown.

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
    std::vector<std::string> problems = {};         // files that could not be read, bytes that were passed over
};

struct ChronicleOptions {
    bool with_timings = true;   // else batches come without their timings
    std::uint32_t session = 0;  // of this one alone; 0: of all
    bool statuses_alone = false;
};

/// `missing` where there is no such run, or it was copied without its directory `forebay`. A run of before there were
/// timings has none, and that is no error.
Result<Chronicle> read_chronicle(sys::Store& store, const std::string& run, const ChronicleOptions& options = {});

/// "nid00412", and with several nodes a machine "nid00412/3".
std::string node_name(const std::string& host, const std::string& virtual_node);
std::string node_name(const format::TimingBatch& batch);
std::string node_name(const format::StatusLine& status);

}  // namespace forebay::telemetry
