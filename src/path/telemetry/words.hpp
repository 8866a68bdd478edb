// Words for numbers of a summary that several texts show: of the report, `forebay top` and the live page.

#pragma once

#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// "session 3", "sessions 1 to 3", "no session": what the numbers of the summary are of.
std::string period_text(const Summary& summary);
/// "1 node", "2 to 4 nodes": of its snapshots.
std::string nodes_text(const Summary& summary);
/// "12 ranks", "1 to 3 ranks": of all nodes together.
std::string ranks_text(const Summary& summary);
/// "copy 120 ms, layout 2.0 ms, waiting for ranks 1.20 s, waiting for a slot 0 s": the visible time, all saves
/// together.
std::string parts_text(const Summary& summary);
/// The same where there is little room: "copy 120 ms, layout 2.0 ms, ranks 1.20 s, slot 0 s".
std::string short_parts_text(const Summary& summary);

/// "48.9 h", "12.5 min", "2.30 s", "3.1 days".
std::string show_span(double seconds);

}  // namespace forebay::telemetry
