// How far a project is: which passes are done, with their times and counts, and what is to be known again later. One
// file a project, STATE/NAME.json.
//
// Bytes:  docs/formats/migrate.md, version 1. The file holds the old or the new state after a crash at any instant.
// Locks:  whoever works on a project holds STATE/NAME.lock; readers need none.

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
    bool is_done = false, was_stopped = false;        // by a signal or the end of a job, and not by an error
    std::uint64_t starts = 0;                         // how often it was begun
    std::int64_t began_unix_s = 0, ended_unix_s = 0;  // the last time; 0: never
    Counts counts;
    std::string error;  // why it did not end well the last time
};

struct ProjectState {
    std::string project, source, target;
    std::array<PassRecord, pass_names.size()> passes;
    std::optional<Frozen> frozen;        // the source when it was closed to its users
    std::int64_t wait_until_unix_s = 0;  // 0: it does not wait yet
    bool is_being_removed = false;       // the source, which is not whole any more
    std::uint64_t above_inode = 0;       // of the folder that the source lies in, when its removal began
    std::int64_t released_unix_s = 0;    // when its release began first, which no --again forgets; 0: never
    std::optional<RootIdentity> source_root, target_root;  // of the walk, and of the copy

    PassRecord& of(Pass pass) { return passes[static_cast<std::size_t>(pass)]; }
    const PassRecord& of(Pass pass) const { return passes[static_cast<std::size_t>(pass)]; }
};

/// The first pass that is not done; nothing where the plan wants no more. Without a wish to remove the source, a
/// project ends with its release.
std::optional<Pass> next_pass(const ProjectState& state, const ProjectPlan& project);

/// Forgets `pass` and all that follow, but not that the release began. `refused` where that would overwrite or compare
/// what users have changed at the target since then, and while the source is being removed.
Result<> go_back(ProjectState& state, Pass pass);

std::string encode_state(const ProjectState& state);
/// `corrupt` for what is no state, `unsupported` for one of a newer version.
Result<ProjectState> decode_state(const std::string& text, const std::string& path);

std::string state_path(const MigrationPlan& plan, const ProjectPlan& project);
std::string lock_path(const MigrationPlan& plan, const ProjectPlan& project);

/// Whether it has, or may have, changed its target.
bool has_copied(const ProjectState& state);

Result<ProjectState> read_state(sys::Store& store, const std::string& path);
/// A new one where there is no file, and where it is of another source or target than the plan's and nothing was copied
/// yet; `refused` where something was, and where another project has copied to its target.
Result<ProjectState> load_state(sys::Store& store, const MigrationPlan& plan, const ProjectPlan& project,
                                TakenTargets& taken);
Result<> save_state(sys::Store& store, const MigrationPlan& plan, const ProjectState& state,
                    const ProjectPlan& project);

}  // namespace forebay::migrate
