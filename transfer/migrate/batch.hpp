// Scripts for data mover nodes, one for each project, for Slurm or PBS. A script calls `forebay migrate` for its
// project. At the end of its time it submits itself again. When its project is done, waits or has failed, it submits
// the next project of its lane. There is one lane for each project that may run at once, each with its share of the
// rate.

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

/// NAME.sh for each project, and submit.sh, which submits the first script of each lane. `directory` is their later
/// place, `program` the path of this program. `plan.path` must be absolute.
std::vector<BatchScript> batch_scripts(const MigrationPlan& plan, BatchSystem system, const std::string& directory,
                                       const std::string& program);

/// Makes the directory and writes the scripts. Returns `refused` before any write if a file of such a name was not made
/// from this plan.
Result<> write_scripts(const std::vector<BatchScript>& scripts, const std::string& directory);

}  // namespace forebay::migrate
