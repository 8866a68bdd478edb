// Runs one project from its present pass until all passes are done, it must wait, a pass fails, or a stop is requested.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transfer/migrate/runner.hpp"

namespace forebay::migrate {

struct Wishes {
    std::optional<Pass> until, again;
    bool moved = false;  // source and target have moved to other directories on purpose
};

enum class Ending {
    done,     // no pass is left
    reached,  // the requested pass is done
    waits,    // until a date
    stopped,  // the same command continues
    failed,
};

struct ProjectEnd {
    std::string project;
    Ending ending = Ending::done;
    Error error{};  // if it stopped or failed
};

/// For a waiting project: a note if the plan's days are fewer than the announced days.
std::string fewer_days_text(const ProjectState& state, const ProjectPlan& project);

/// Takes the project's lock; `refused` if another process holds it. The plan's directories must exist. An error is also
/// printed once.
ProjectEnd run_project(const MigrationPlan& plan, const ProjectPlan& project, const Wishes& wishes, TakenTargets& taken,
                       Stop& stop, const Runner::Tell& tell);

/// Runs all projects in the plan's order, `at_once` at a time. A failed project stops no other. Makes the plan's
/// directories. Returns an error if nothing could begin.
Result<std::vector<ProjectEnd>> run_projects(const MigrationPlan& plan, const Wishes& wishes, Stop& stop,
                                             const Runner::Tell& tell);

}  // namespace forebay::migrate
