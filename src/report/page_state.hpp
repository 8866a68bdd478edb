// The state of a run as the live page gets it: one JSON text, a few kilobytes whatever the size of the run. It says in
// words whether the run lives, and holds the numbers of telemetry's summary; curves and the heat map are cut to what a
// screen has room for.
//
// Times are seconds since 1970. Texts are as they stand in the run's files: the page puts them into the document as
// text, never as markup.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/summary.hpp"

namespace forebay::report {

/// A snapshot that exists at the target.
struct KeptSnapshot {
    std::string stream;
    std::int64_t step = 0;
    std::string standing;  // "committed", "abandoned", "of another run", "unreadable"
    std::int64_t sealed_unix_ns = 0;
};

/// The backlog at one look of the page's server at the run.
struct BacklogSample {
    std::int64_t unix_ns = 0;
    std::uint64_t bytes = 0;
    double rate_bytes_per_second = 0;
};

struct PageFacts {
    const telemetry::Chronicle& chronicle;
    const telemetry::Summary& summary;
    const std::vector<KeptSnapshot>& kept;
    const std::vector<BacklogSample>& backlog;
    std::int64_t now_unix_ns = 0;
};

enum class WatchedState {
    untold,     // no agent has told of itself
    live,       // application and agents
    silent,     // an agent has told nothing for three of its periods
    orphaned,   // agents drain what an application left that has ended or died
    finished,   // agents have ended with everything committed
    left_work,  // an agent has ended and left work
};
const char* name_of(WatchedState state);

struct WatchedStanding {
    WatchedState state = WatchedState::untold;
    std::string words;                      // a sentence for people
    std::vector<std::string> silent;        // nodes whose agents are silent
    std::int64_t silent_since_unix_ns = 0;  // of the first of them
};
/// By the status lines of the newest session. "silent" counts before all else: its node may hold what is not durable.
WatchedStanding standing_of(const std::vector<format::StatusLine>& statuses, std::int64_t now_unix_ns);

std::string page_state(const PageFacts& facts);

}  // namespace forebay::report
