// Copies of plain files into a run of ours.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// `refused` where a session writes the run at `target`, or the run in whose stream or snapshot `target` lies: files
/// that are copied there come between those that it saves. Asked before anything is changed. `source` is what is
/// copied: if it is a run, its claims may have come along before, so that an older claim at the target says nothing.
/// May be "". With `removes`, as of --delete, a target within a run is `refused` whether a session lives or not.
Result<> check_no_session_writes(const std::string& source, const std::string& target, bool removes = false);

/// Before a snapshot is deleted: notes in its run that the run went back, if only that snapshot shows it. An error if
/// that cannot be noted.
Result<> keep_lines(const std::string& place);

}  // namespace forebay::cli
