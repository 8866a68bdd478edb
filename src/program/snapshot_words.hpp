// Texts and JSON for snapshots and for leftovers of a crash.

#pragma once

#include "core/terminal/json.hpp"
#include "path/catalog/catalog.hpp"
#include "path/telemetry/left_in_memory.hpp"

namespace forebay::cli {

/// "part", "old", "gone".
const char* name_of(catalog::Leftover::Kind kind);

Json json_of(const catalog::Snapshot& snapshot);
/// stream, step, hosts.
Json json_of(const telemetry::SealedLeft& snapshot);

}  // namespace forebay::cli
