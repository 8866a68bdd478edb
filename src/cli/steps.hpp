// Several snapshots of one stream, as a person names them:
//
//   RUN/STREAM@all   RUN/STREAM@100-500   RUN/STREAM@100,200,500-900      and all that place.hpp knows, for one

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/place.hpp"

namespace forebay::cli {

/// Committed snapshots by rising step, at least one. With a `wait`, looks again until every step that is named, both
/// ends of a range too, is committed and no snapshot of a range is still being drained; then `missing` says which is
/// not.
Result<std::vector<catalog::Snapshot>> find_snapshots(sys::Store& store, const std::string& text,
                                                      std::chrono::seconds wait);

}  // namespace forebay::cli
