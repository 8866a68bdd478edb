// Finds out which agents of this host live. The host knows this better than their status lines.

#pragma once

#include <string>

#include "path/telemetry/chronicle.hpp"

namespace forebay::telemetry {

/// Looks at the locks of the run's staging directories below `staging` on this host, as `forebay ls` does. A killed
/// agent or application holds no lock. Sets is_gone and application_lives in status lines of this host. Lines of other
/// hosts, and lines of sessions without a directory, stay as they are.
void look_here(Chronicle& chronicle, const std::string& staging);

}  // namespace forebay::telemetry
