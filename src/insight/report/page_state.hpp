// The state of a run for the live page: one JSON text of a few kilobytes for any size of run. It says in words whether
// the run lives, and holds the numbers of telemetry's summary. Curves and the heat map are cut to the size of a screen.
//
// Times are seconds since 1970. Texts are unchanged from the run's files: the page inserts them as text, never as
// markup.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::report {

/// A snapshot at the target.
struct KeptSnapshot {
    std::string stream;
    std::int64_t step = 0;
    std::string standing;  // "committed", "abandoned", "of another run", "unreadable"
    std::int64_t sealed_unix_ns = 0;
};

/// The backlog when the page's server looked at the run.
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

std::string page_state(const PageFacts& facts);

}  // namespace forebay::report
