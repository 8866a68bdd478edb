// The progress of a project: finished passes with times and counts, and facts needed later. One file for each project,
// STATE/NAME.json.
//
// Bytes:  docs/formats/migrate.md, version 1. After a crash at any instant the file has the old or the new state.
// Locks:  a process that works on a project holds STATE/NAME.lock. Readers need no lock.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/sys/store.hpp"
#include "transfer/migrate/frozen.hpp"
#include "transfer/migrate/pass.hpp"
#include "transfer/migrate/plan.hpp"
#include "transfer/migrate/root.hpp"
#include "transfer/migrate/taken.hpp"

namespace forebay::migrate {

using Counts = std::map<std::string, std::uint64_t>;
std::uint64_t count_of(const Counts& counts, const std::string& name);

struct PassRecord {
    bool is_done = false, was_stopped = false;        // stopped by a signal or the end of a job, not by an error
    std::uint64_t starts = 0;                         // number of starts
    std::int64_t began_unix_s = 0, ended_unix_s = 0;  // of the last start; 0: never
    Counts counts;
    std::string error;  // reason of the last failure
};

struct ProjectState {
    std::string project, source, target;
    std::array<PassRecord, pass_names.size()> passes;
    std::optional<Frozen> frozen;                          // the source when it was closed to its users
    std::int64_t wait_until_unix_s = 0;                    // 0: no wait yet
    bool is_being_removed = false;                         // the source is no longer complete
    std::uint64_t above_inode = 0;                         // parent of the source when its removal began
    std::int64_t released_unix_s = 0;                      // first begin of the release, kept by any --again; 0: never
    std::optional<RootIdentity> source_root, target_root;  // recorded by the walk and by the copy

    PassRecord& of(Pass pass) { return passes[static_cast<std::size_t>(pass)]; }
    const PassRecord& of(Pass pass) const { return passes[static_cast<std::size_t>(pass)]; }
};

/// The first unfinished pass; nothing if the plan wants no more. A project without removal of its source ends with the
/// release.
std::optional<Pass> next_pass(const ProjectState& state, const ProjectPlan& project);

/// Forgets `pass` and all later passes, but not the time of release. Returns `refused` if the repetition would
/// overwrite or compare the users' changes at the target, and while the source is being removed.
Result<> go_back(ProjectState& state, Pass pass);

std::string encode_state(const ProjectState& state);
/// Returns `corrupt` for an invalid state, `unsupported` for a newer version.
Result<ProjectState> decode_state(const std::string& text, const std::string& path);

std::string state_path(const MigrationPlan& plan, const ProjectPlan& project);
std::string lock_path(const MigrationPlan& plan, const ProjectPlan& project);

/// True if it has changed its target, or may have.
bool has_copied(const ProjectState& state);

Result<ProjectState> read_state(sys::Store& store, const std::string& path);
/// Returns a new state if there is no file, or if the file has another source or target and nothing was copied yet.
/// Returns `refused` if something was copied, or if another project copies to its target.
Result<ProjectState> load_state(sys::Store& store, const MigrationPlan& plan, const ProjectPlan& project,
                                TakenTargets& taken);
Result<> save_state(sys::Store& store, const MigrationPlan& plan, const ProjectState& state,
                    const ProjectPlan& project);

}  // namespace forebay::migrate
