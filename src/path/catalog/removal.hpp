// For who removes a directory of a stream otherwise than prune() does, such as `forebay delete`.

#pragma once

#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// Marks durably what would be forgotten with `directory`, RUN/STREAM/step-000310 or another name of a snapshot: what
/// its line had abandoned stays abandoned. Changes nothing else.
Result<> mark_before_removal(sys::Store& store, const std::string& run, const std::string& stream,
                             const std::string& directory);

}  // namespace forebay::catalog
