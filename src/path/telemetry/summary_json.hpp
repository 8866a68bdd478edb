// A summary as the file summary.json: docs/formats/summary.md.

#pragma once

#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// Lines of ASCII with a final line feed. Unknown figures are null.
std::string summary_json(const Summary& summary);

}  // namespace forebay::telemetry
