// `forebay tune`: the search for settings, in one job whose ranks make every trial together.

#pragma once

#include "core/terminal/command_line.hpp"

namespace forebay::bench {

void add_tune(cli::CommandLine& line);

}  // namespace forebay::bench
