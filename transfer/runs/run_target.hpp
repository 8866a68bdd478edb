// The target of a copy of a run: its writers, its snapshots, and the snapshots that stay or go.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "path/catalog/held_run_lock.hpp"
#include "path/catalog/history.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::cli {

/// By "STREAM/step-000120".
using RunSnapshots = std::map<std::string, catalog::Version>;

/// Plan for the snapshots of the source.
struct RunCopyPlan {
    RunSnapshots source;
    std::set<std::string> kept;            // places unchanged at the target
    std::set<std::string> gone;            // in a dry run: places that a real run would remove
    std::set<std::string> unnamed_before;  // directories of the target without a manifest
};

/// All snapshots with a manifest, also abandoned snapshots. Empty if the run does not exist.
Result<RunSnapshots> versions_of(sys::Store& store, const std::string& run);

/// Takes the target's run lock, so that no session saves there during the copy. Returns `refused` if a session or
/// another copy holds it; nothing is changed then. Returns null in a dry run, which only checks, and for a target
/// without an identity, which has no sessions. The lock's number is above all sessions that saved the snapshots of
/// `source`.
Result<std::unique_ptr<catalog::HeldRunLock>> claim_target(const RunCopy& wish, const RunSnapshots& source);

/// Returns `refused` if `removes_extra` would remove snapshots that a session saved at the target, or all snapshots of
/// a stream. Sessions are identified by their run locks, because both places may use one line number.
Result<> check_removals(const RunCopy& wish, const RunSnapshots& source);

/// Frees places with another snapshot in the source, and removes extra snapshots if requested; a dry run only reports.
/// A snapshot in both runs stays: it never changes, and the target's copy may be better. A target snapshot in the place
/// of another save stays and is reported as `failed`, unless `removes_extra` is set. `held` may be null. Repeats
/// check_removals() first: under the lock nothing can come in between.
Result<> clear_target(const RunCopy& wish, const catalog::HeldRunLock* held, RunCopyPlan& plan,
                      tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Removes a snapshot of the target with its views.
Result<> discard(sys::Store& store, const catalog::Version& version);

}  // namespace forebay::cli
