// The target of a copy of a run: who may be writing there, which snapshots it has, and which of them stay or go.

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

/// What becomes of the snapshots of the source.
struct RunCopyPlan {
    RunSnapshots source;
    std::set<std::string> kept;            // places that stay as they are at the target
    std::set<std::string> gone;            // places that a run would have removed, in a dry run
    std::set<std::string> unnamed_before;  // directories of the target without a manifest
};

/// All that have a manifest, the abandoned ones too. None where the run is not there.
Result<RunSnapshots> versions_of(sys::Store& store, const std::string& run);

/// Claims the target, so that no session saves there while the copy works. `refused` while a session or another copy
/// holds it; then nothing is changed. A dry run only looks, and gets no claim. Of a target without an identity, which
/// no session writes, nothing either. The number of the claim is above those of the sessions that saved what `source`
/// has.
Result<std::unique_ptr<catalog::HeldRunLock>> claim_target(const RunCopy& wish, const RunSnapshots& source);

/// `refused` where `removes_extra` would take away what a session has saved at the target, or all that a stream has
/// there. Sessions are told by their claims: the number of a line may be given at both places.
Result<> check_removals(const RunCopy& wish, const RunSnapshots& source);

/// Frees the places at which the source has another snapshot, and removes what the source has not, as far as the
/// options ask for it; a dry run only says it. What both have stays as it is: a snapshot never changes, and the
/// target's may be the better one. A snapshot of which the source has none stays and is named as `failed`, unless
/// `removes_extra` lets it go. `held` may be null. First asks what check_removals() does: with a claim nothing comes
/// in between.
Result<> clear_target(const RunCopy& wish, const catalog::HeldRunLock* held, RunCopyPlan& plan,
                      tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Takes a snapshot of the target away, with its views.
Result<> discard(sys::Store& store, const catalog::Version& version);

}  // namespace forebay::cli
