// Committed snapshots and recovery after a crash, for tests of the drain and of lower layers.

#pragma once

#include "core/base/try.hpp"
#include "path/commit/commit.hpp"
#include "path/commit/gather.hpp"
#include "support/small_run.hpp"

namespace forebay::test {

inline commit::SnapshotKey key_of(const std::string& run, const SmallSnapshot& snapshot) {
    return {.run = run,
            .stream = snapshot.stream,
            .step = snapshot.step,
            .save = {snapshot.id, snapshot.sealed_unix_ns, snapshot.lineage.line(), snapshot.lineage.save},
            .nodes = snapshot.nodes,
            .form = small_form(snapshot, 0)};
}

inline Result<commit::Commit> commit(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot,
                                     std::uint32_t* look_first_at = nullptr) {
    return commit::commit_if_complete(store, key_of(run, snapshot), snapshot.lineage.run_id, look_first_at);
}

/// The parts of the snapshot that have arrived.
inline Result<catalog::Arrived> look_at_part(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot) {
    return commit::look_at_part(store, part_directory(run, snapshot));
}

/// Drains all nodes of the snapshot and commits it.
inline Result<> commit_all(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot) {
    FB_TRY(drain_all(store, run, snapshot));
    FB_TRY(commit(store, run, snapshot));
    return {};
}

/// True if the committed snapshot has this id and every byte is right.
inline bool is_whole(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot) {
    const auto directory = step_directory(run, snapshot);
    const auto manifest = catalog::load_manifest(store, directory);
    if (!manifest || manifest->snapshot_id != snapshot.id) return false;
    const auto verified = catalog::verify(store, {snapshot.stream, snapshot.step, directory}, {});
    return verified && verified->damage.empty() && catalog::check_whole(store, directory, *manifest);
}

/// Does the work of `forebay recover`, but leaves incomplete parts.
inline Result<> recover_all(sys::Store& store, const std::string& run) {
    FB_TRY(commit::recover(store, run, false));
    return {};
}

}  // namespace forebay::test
