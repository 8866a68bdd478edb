// The programs that start the keepers of a job: srun in Slurm, pbs_tmrsh or pbsdsh in PBS, else ssh. A keeper of this
// host is started directly, except in Slurm.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/run/job_keeper.hpp"
#include "program/run/job_nodes.hpp"

namespace forebay::cli {

struct StartPlan {
    std::string hosts, ssh;  // options; "": the hosts and the launcher of the job
    std::string own_host;
    std::function<std::string(const char*)> environment;
    std::function<bool(const std::string& program)> has_program;  // in PATH
};

/// True in a job of Slurm.
bool in_slurm(const StartPlan& plan);

/// True if keepers must call back: their launcher is one of PBS.
bool need_calls(const StartPlan& plan);

/// `keeper` is the command of a keeper. `calls` are more options for keepers that call back.
Result<std::vector<KeeperStart>> keeper_starts(const StartPlan& plan, const std::vector<std::string>& keeper,
                                               const std::vector<std::string>& calls);

}  // namespace forebay::cli
