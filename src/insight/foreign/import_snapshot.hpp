// Writes what a decoder found as a snapshot straight at the target. No staging: nothing computes meanwhile that a copy
// in memory would set free.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "insight/foreign/contents.hpp"
#include "path/commit/write_snapshot.hpp"

namespace forebay::foreign {

/// As commit::write_snapshot(), with the time of the contents. `corrupt` when a source is not what its own checksums
/// say: nothing is imported then.
Result<std::string> import_snapshot(sys::Store& store, const ForeignContents& contents, commit::Destination to,
                                    const commit::Progress& progress);

}  // namespace forebay::foreign
