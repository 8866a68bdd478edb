// What this host knows of its own agents better than their status lines do: whether they live.

#pragma once

#include <string>

#include "path/telemetry/chronicle.hpp"

namespace forebay::telemetry {

/// Looks at the locks of the run's staging directories below `staging` on this host, as `forebay ls` does: an agent or
/// an application that was killed holds none any more. Of status lines of this host, is_gone and application_lives
/// become what the locks say. Lines of other hosts, and of sessions that have left no directory, stay as they are.
void look_here(Chronicle& chronicle, const std::string& staging);

}  // namespace forebay::telemetry
