// Which snapshots of a stream stay and which go, and why. Removes nothing: prune.cpp does.

#pragma once

#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"

namespace forebay::catalog {

/// The answer has `kept`, `removed` with `reasons`, and `problems`. Looks at the files of the snapshots that it counts,
/// or has them proved by `what.proof`.
Pruned select_snapshots(sys::Store& store, const History& history, const Retention& what);

}  // namespace forebay::catalog
