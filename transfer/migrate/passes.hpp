// The work of a project's passes. A pass can be repeated after a kill at any moment: verbs make trees equal again, and
// records are written whole.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transfer/migrate/runner.hpp"

namespace forebay::migrate {

/// The command line of a pass's verb; empty if the pass calls none. For live-sync: `turn` counts from 1.
std::vector<std::string> call_of(Pass pass, const MigrationPlan& plan, const ProjectPlan& project,
                                 std::uint64_t turn = 1);

std::string reports_of(const MigrationPlan& plan, const ProjectPlan& project);

class Passes {
public:
    /// `save` writes the state to storage.
    Passes(const MigrationPlan& plan, const ProjectPlan& project, ProjectState& state, Runner& runner,
           std::function<Result<>()> save)
        : plan_(plan), project_(project), state_(state), runner_(runner), save_(std::move(save)) {}

    /// Records the present directories as source and target.
    Result<> note_roots();
    /// Runs any pass except the wait. Counts go to the pass's record. Returns `corrupt` if trees differ unexpectedly.
    Result<> make(Pass pass);

    /// ": 7 copied, 2 failed: REPORTS/NAME/copy.jsonl": counts of a finished pass; or empty.
    std::string counts_text(Pass pass) const;

private:
    Result<> walk(PassRecord& record);
    Result<> copy(PassRecord& record);
    Result<> live_sync(PassRecord& record);
    Result<> final_sync(PassRecord& record);
    Result<> compare(PassRecord& record);
    Result<> freeze();
    Result<> release();
    Result<> remove(PassRecord& record);
    Result<> begin_removal();

    Result<Runner::VerbEnd> call(Pass pass, std::uint64_t turn = 1) const;
    /// `notes`: records the directory if none is recorded. Without it, an unrecorded source is refused, and an
    /// unrecorded target after the comparison: older programs recorded none.
    Result<> check_source(bool notes = false);
    Result<> check_target(bool notes = false);
    Result<> check_alike() const;
    Error not_noted(std::string_view side, const std::string& place, std::string_view done) const;
    Result<> check_root(std::string_view side, const std::string& place, const RootSight& sight, Pass noted_by,
                        std::optional<RootIdentity>& noted) const;
    Result<> check_no_other_run() const;
    Result<> check_nothing_left(Pass pass) const;
    /// True if a pass made or found entries in the target.
    bool has_filled_target() const;
    std::string report_of(Pass pass) const;
    std::string next_call(std::string_view options) const;
    Result<> check_is_frozen(const char* what_else, FrozenInodes* inodes) const;
    FrozenWalk frozen_walk() const;
    std::chrono::milliseconds hook_time() const;
    std::string links_path() const;

    const MigrationPlan& plan_;
    const ProjectPlan& project_;
    ProjectState& state_;
    Runner& runner_;
    std::function<Result<>()> save_;
};

}  // namespace forebay::migrate
