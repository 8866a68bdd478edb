// Several snapshots of one stream, as a person names them:
//
//   RUN/STREAM@all   RUN/STREAM@100-500   RUN/STREAM@100,200,500-900      and all that place.hpp knows, for one

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "program/place.hpp"

namespace forebay::cli {

struct Steps {
    std::vector<catalog::Snapshot> snapshots;  // by rising step, at least one
    bool is_series = false;                    // several were asked for, even if there is one
};

/// Committed snapshots. With a `wait`, looks again until every step that is named, both ends of a range too, is
/// committed and no snapshot of a range is still being drained; then `missing` says which is not.
Result<Steps> find_steps(sys::Store& store, const std::string& text, std::chrono::seconds wait,
                         StreamNeed need = StreamNeed::optional);

}  // namespace forebay::cli
