// One project, from the pass at which it stands: until all are done, one has to wait, one fails, or all is to stop.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transfer/migrate/runner.hpp"

namespace forebay::migrate {

struct Wishes {
    std::optional<Pass> until, again;
    bool moved = false;  // source and target are other directories now, which is meant
};

enum class Ending {
    done,     // nothing is left
    reached,  // the pass that was asked for
    waits,    // until a date
    stopped,  // goes on with the same command
    failed,
};

struct ProjectEnd {
    std::string project;
    Ending ending = Ending::done;
    Error error{};  // where it stopped or failed
};

/// Of a project that waits: what is to be added where the plan's days are fewer than those that were told once.
std::string fewer_days_text(const ProjectState& state, const ProjectPlan& project);

/// Takes the lock of the project; `refused` where another process has it. The directories of the plan are there. An
/// error is told, too, whole and once.
ProjectEnd run_project(const MigrationPlan& plan, const ProjectPlan& project, const Wishes& wishes, TakenTargets& taken,
                       Stop& stop, const Runner::Tell& tell);

/// All of them, `at_once` at a time, in the order of the plan; one that fails stops no other. Directories of the plan
/// are made. An error where nothing could be begun.
Result<std::vector<ProjectEnd>> run_projects(const MigrationPlan& plan, const Wishes& wishes, Stop& stop,
                                             const Runner::Tell& tell);

}  // namespace forebay::migrate
