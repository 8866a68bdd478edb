// Scripts for nodes that move data: one a project, for Slurm or PBS. Each calls `forebay migrate` for its project, and
// when its time is over submits itself again; when the project is done, waits or has failed, it submits the next
// project of its lane. There are as many lanes as projects may run at once, each with its share of the rate.

#pragma once

#include <string>
#include <vector>

#include "transfer/migrate/plan.hpp"

namespace forebay::migrate {

enum class BatchSystem { slurm, pbs };
Result<BatchSystem> batch_system_from(const std::string& word);

struct BatchScript {
    std::string name, text;
};

/// NAME.sh of each project, and submit.sh, which submits the first of each lane. `directory` is where they will lie,
/// `program` the path of this program, `plan.path` is absolute.
std::vector<BatchScript> batch_scripts(const MigrationPlan& plan, BatchSystem system, const std::string& directory,
                                       const std::string& program);

/// Writes them, and makes the directory. `refused`, before one is written, where a file that was not made of this plan
/// has such a name.
Result<> write_scripts(const std::vector<BatchScript>& scripts, const std::string& directory);

}  // namespace forebay::migrate
