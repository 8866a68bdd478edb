// Selects the snapshots of a stream that stay and that go, with reasons. prune.cpp removes them.

#pragma once

#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"

namespace forebay::catalog {

/// Sets `kept`, `removed` with `reasons`, and `problems`. Checks the files of the snapshots that count, or calls
/// `what.proof` for them.
Pruned select_snapshots(sys::Store& store, const History& history, const Retention& what);

}  // namespace forebay::catalog
