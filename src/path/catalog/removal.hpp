// For code that removes a directory of a stream without prune(), such as `forebay delete`.

#pragma once

#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// Call it before you remove `directory`, RUN/STREAM/step-000310 or another name of a snapshot. It writes durable
/// marks, so that snapshots abandoned by the directory's line stay abandoned. It changes nothing else.
Result<> mark_before_removal(sys::Store& store, const std::string& run, const std::string& stream,
                             const std::string& directory);

}  // namespace forebay::catalog
