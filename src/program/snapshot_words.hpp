// Texts and JSON for snapshots and for leftovers of a crash.

#pragma once

#include "core/terminal/json.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::cli {

/// "part", "old", "gone".
const char* name_of(catalog::Leftover::Kind kind);

Json json_of(const catalog::Snapshot& snapshot);

}  // namespace forebay::cli
