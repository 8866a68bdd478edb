// Committed snapshots, and the end of a crash, for tests of rooms below the drain.

#pragma once

#include "drain/commit.hpp"
#include "support/small_run.hpp"

namespace forebay::test {

/// Drains all nodes of the snapshot and commits it.
inline Result<> commit_all(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot) {
    FB_TRY(drain_all(store, run, snapshot));
    FB_TRY(drain::commit_if_complete(store, run, snapshot.stream, snapshot.step, snapshot.id, snapshot.nodes));
    return {};
}

/// What `forebay recover` does, incomplete parts left alone.
inline Result<> recover_all(sys::Store& store, const std::string& run) {
    FB_TRY(drain::recover(store, run, false));
    return {};
}

}  // namespace forebay::test
