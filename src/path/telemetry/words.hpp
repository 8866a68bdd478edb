// Words for numbers of a summary, shared by the report, `forebay top` and the live page.

#pragma once

#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// The sessions of the summary's numbers: "session 3", "sessions 1 to 3", "no session".
std::string period_text(const Summary& summary);
/// The nodes of its snapshots: "1 node", "2 to 4 nodes".
std::string nodes_text(const Summary& summary);
/// The ranks of all nodes together: "12 ranks", "1 to 3 ranks".
std::string ranks_text(const Summary& summary);
/// The visible time of all saves together: "copy 120 ms, layout 2.0 ms, waiting for ranks 1.20 s, waiting for a slot 0
/// s".
std::string parts_text(const Summary& summary);
/// The same for narrow places: "copy 120 ms, layout 2.0 ms, ranks 1.20 s, slot 0 s".
std::string short_parts_text(const Summary& summary);

/// "48.9 h", "12.5 min", "2.30 s", "3.1 days".
std::string show_span(double seconds);

}  // namespace forebay::telemetry
