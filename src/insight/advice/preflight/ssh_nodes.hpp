// Hosts reached over ssh, or over another program that starts commands on hosts. `ssh HOST forebay preflight --here`
// runs on each host while it is needed, with a limit on the number at once, and answers in lines.
//
// Threads: one.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "insight/advice/preflight/nodes.hpp"

namespace forebay::advice {

struct SshOptions {
    std::vector<std::string> command{"ssh"};  // with its options; host and program follow
    std::string program;                      // the path of `forebay` on each host
    std::size_t at_once = 64;                 // programs running here at once
};

/// Deleting the object ends the hosts' programs.
std::unique_ptr<Nodes> ssh_nodes(std::vector<std::string> hosts, SshOptions options);

}  // namespace forebay::advice
