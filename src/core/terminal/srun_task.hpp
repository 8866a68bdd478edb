// Copies of this program that Slurm's srun started directly, as in `srun -N 4 forebay ls RUN`.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::cli {

struct SrunTask {
    std::int64_t index = 0, count = 1;  // from 0; tasks of the step
};

/// This process among the tasks of a step with several tasks. Nothing if srun started another program, as in
/// `srun ./script`, and that program started this process: each script needs its answer.
std::optional<SrunTask> srun_task();

/// What this process does if srun started several copies with this verb. Empty: it goes on. Verbs of one node, such as
/// drain, go on in each copy. Verbs of many nodes go on if the copies have MPI, else they are `refused`. Other verbs go
/// on in the first copy. The other copies end with the exit code 0.
Result<std::optional<int>> leave_to_first_task(std::string_view verb);

}  // namespace forebay::cli
