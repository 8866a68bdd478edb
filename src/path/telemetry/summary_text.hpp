// A summary on one screen of a terminal, at the end of a run: its cost, the safety of its data, slow nodes and targets,
// and advice. Names are escaped (base/show_text.hpp), so the text can go to a terminal as it is.

#pragma once

#include <string>
#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

struct TextOptions {
    bool plain = false;  // only ASCII
    int columns = 100;   // 80 to 100; lines to paste may be longer
    /// bytes_over_time() from begin_unix_ns to end_unix_ns, drawn as a line of bars. Empty: no such line.
    std::vector<double> bytes_over_time = {};
};

std::string summary_text(const Summary& summary, const TextOptions& options = {});

}  // namespace forebay::telemetry
