// The verbs of trees for ranks of MPI that share the work.

#pragma once

#include "cli/command_line.hpp"

namespace forebay::bench {

void add_trees(cli::CommandLine& line);

}  // namespace forebay::bench
