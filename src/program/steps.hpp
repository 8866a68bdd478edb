// Several snapshots of one stream on the command line:
//
//   RUN/STREAM@all   RUN/STREAM@100-500   RUN/STREAM@100,200,500-900      or any place of place.hpp for one

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "program/place.hpp"

namespace forebay::cli {

struct Steps {
    std::vector<catalog::Snapshot> snapshots;  // by rising step, at least one
    bool is_series = false;                    // a range or list was requested, even if it has one step
};

/// Committed snapshots. With `wait`, looks again until every named step, also both ends of a range, is committed and no
/// snapshot of a range is draining. After the wait returns `missing` with the step.
Result<Steps> find_steps(sys::Store& store, const std::string& text, std::chrono::seconds wait,
                         StreamNeed need = StreamNeed::optional);

}  // namespace forebay::cli
