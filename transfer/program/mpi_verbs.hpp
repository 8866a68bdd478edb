// The verbs of trees for ranks of MPI.

#pragma once

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

void add_mpi_verbs(CommandLine& line);

}  // namespace forebay::cli
