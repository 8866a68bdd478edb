// `forebay preflight` over MPI: rank 0 asks, the other ranks answer. Every rank counts as a node.

#pragma once

#include "core/terminal/command_line.hpp"

namespace forebay::bench {

void add_preflight(cli::CommandLine& line);

}  // namespace forebay::bench
