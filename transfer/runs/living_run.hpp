// Checks before plain files are copied into a run, or snapshots removed from it.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// Returns `refused` if a session writes the run at `target`, or the run that has `target` as a stream or snapshot: the
/// copied files would mix with its saves. Call it before any change. `source` may be ""; if it is a run, its run locks
/// may have been copied before, so an older run lock at the target proves nothing. With `removes` (--delete) a target
/// inside a run is always `refused`.
Result<> check_no_session_writes(const std::string& source, const std::string& target, bool removes = false);

/// Call it before a snapshot is deleted. If only that snapshot shows that its run went back, notes this in the run.
/// Returns an error if that fails.
Result<> keep_lines(const std::string& place);

}  // namespace forebay::cli
