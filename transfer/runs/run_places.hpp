// The places of streams and snapshots of a run, checked before a copy.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// Returns `refused` if a stream, a snapshot or the identity's directory is a link in `source` or `target`, or if a
/// file system is mounted on or below such a directory in `target`.
Result<> check_run_places(const std::string& source, const std::string& target);

}  // namespace forebay::cli
