// What the passes of a project do. Each may be done again after a kill at any moment: what it changes are trees, which
// the verbs of trees make equal again, and records, which are written as a whole.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transfer/migrate/runner.hpp"

namespace forebay::migrate {

/// The calls of the verbs of trees that a pass makes; none where it makes no such call. Of live-sync: one turn, from 1.
std::vector<std::string> call_of(Pass pass, const MigrationPlan& plan, const ProjectPlan& project,
                                 std::uint64_t turn = 1);

std::string reports_of(const MigrationPlan& plan, const ProjectPlan& project);

class Passes {
public:
    /// `save` puts the state on storage.
    Passes(const MigrationPlan& plan, const ProjectPlan& project, ProjectState& state, Runner& runner,
           std::function<Result<>()> save)
        : plan_(plan), project_(project), state_(state), runner_(runner), save_(std::move(save)) {}

    /// From now on source and target are the directories that are seen there now.
    Result<> note_roots();
    /// All but the wait. Counts go into the pass's record. `corrupt` where trees differ that should not.
    Result<> make(Pass pass);

    /// ": 7 copied, 2 failed: REPORTS/NAME/copy.jsonl", what a pass that is done has counted; or nothing.
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
    /// `notes`: what is there is noted, where nothing is. Without it a source that is not noted is refused, and such a
    /// target that was compared: states of older programs have noted none.
    Result<> check_source(bool notes = false);
    Result<> check_target(bool notes = false);
    Result<> check_alike() const;
    Error not_noted(std::string_view side, const std::string& place, std::string_view done) const;
    Result<> check_root(std::string_view side, const std::string& place, const RootSight& sight, Pass noted_by,
                        std::optional<RootIdentity>& noted) const;
    Result<> check_no_other_run() const;
    Result<> check_nothing_left(Pass pass) const;
    /// Whether a pass has made entries there, or found them.
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
