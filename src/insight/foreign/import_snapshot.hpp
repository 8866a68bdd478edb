// Writes decoded contents as a snapshot directly at the target, without staging: no simulation waits that a copy in
// memory would free.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "insight/foreign/contents.hpp"
#include "path/commit/write_snapshot.hpp"

namespace forebay::foreign {

/// As commit::write_snapshot(), with the time of the contents. `corrupt` if a source does not match its own checksums;
/// then nothing is imported.
Result<std::string> import_snapshot(sys::Store& store, const ForeignContents& contents, commit::Destination to,
                                    const commit::Progress& progress);

}  // namespace forebay::foreign
