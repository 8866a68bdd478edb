// Where the streams and snapshots of a run lie, which is looked at before it is copied.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// `refused` where a stream, a snapshot or the directory of the identity is a link in `source` or `target`, or where
/// something is mounted there in `target`, or deeper in one of them.
Result<> check_run_places(const std::string& source, const std::string& target);

}  // namespace forebay::cli
