// A team over pipes: the first process starts a program for each host, by ssh or directly, and speaks to it over its
// standard input and output.

#pragma once

#include <string>
#include <vector>

#include "core/sys/channel.hpp"
#include "transfer/team/team_port.hpp"

namespace forebay::tree {

struct TeamHost {
    std::string name;
    std::vector<std::string> command;  // what starts the member's program there
};

/// For the first process. A host whose program cannot be started is heard of as lost.
Result<std::unique_ptr<TeamPort>> start_hosts(const std::vector<TeamHost>& hosts);
/// For a member that start_hosts() has started.
Result<std::unique_ptr<TeamPort>> join_by_standard_input();

}  // namespace forebay::tree
