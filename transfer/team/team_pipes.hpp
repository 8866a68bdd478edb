// A group of workers over pipes. The coordinator starts a program for each host, by ssh or directly, and talks to it
// over its standard input and output.

#pragma once

#include <string>
#include <vector>

#include "core/sys/channel.hpp"
#include "transfer/team/team_port.hpp"

namespace forebay::tree {

struct TeamHost {
    std::string name;
    std::vector<std::string> command;  // starts the worker's program there
};

/// For the coordinator. A host is lost if its program cannot be started.
Result<std::unique_ptr<TeamPort>> start_hosts(const std::vector<TeamHost>& hosts);
/// For a worker started by start_hosts().
Result<std::unique_ptr<TeamPort>> join_by_standard_input();

}  // namespace forebay::tree
