// The verbs of trees for ranks of MPI that share the work.

#pragma once

#include "core/terminal/command_line.hpp"

namespace forebay::bench {

void add_trees(cli::CommandLine& line);

/// After all was said: where a rank is lost, and MPI_Finalize() would wait for it, the launcher ends the others with
/// this exit code.
int end_of_job(int code);

}  // namespace forebay::bench
