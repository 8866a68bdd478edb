// Hosts that are asked over ssh, or another program that starts commands on hosts: `ssh HOST forebay preflight --here`
// runs on each as long as it is needed, at most so many at once, and answers in lines.
//
// Threads: one.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "insight/advice/preflight/nodes.hpp"

namespace forebay::advice {

struct SshOptions {
    std::vector<std::string> command{"ssh"};  // with its own options; the host and the program follow
    std::string program;                      // the path of `forebay` on each host
    std::size_t at_once = 64;                 // of the programs that run here
};

/// The hosts' programs are ended with the object.
std::unique_ptr<Nodes> ssh_nodes(std::vector<std::string> hosts, SshOptions options);

}  // namespace forebay::advice
