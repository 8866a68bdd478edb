// A summary on one screen of a terminal, at the end of a run: what it cost, whether data are safe, what was slow and
// who, what to do. Names are shown (base/show_text.hpp), so that the text can go to a terminal as it is.

#pragma once

#include <string>
#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

struct TextOptions {
    bool plain = false;  // ASCII alone
    int columns = 100;   // 80 to 100; lines to paste may be longer
    /// bytes_over_time() from begin_unix_ns to end_unix_ns: drawn as a line of bars. Empty: no such line.
    std::vector<double> bytes_over_time = {};
};

std::string summary_text(const Summary& summary, const TextOptions& options = {});

}  // namespace forebay::telemetry
