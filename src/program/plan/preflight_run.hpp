// `forebay preflight` of both programs: its options, and the check of any kind of nodes.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/terminal/command_line.hpp"
#include "forebay/options.hpp"
#include "insight/advice/preflight/nodes.hpp"

namespace forebay::cli {

struct PreflightArguments {
    std::string target, staging = "/dev/shm", servers, site, out = ".", binary, pool, plan, after;
    std::vector<std::string> targets;
    std::uint64_t application_bytes = 0, bytes_per_node = 0, planned_bytes = 0;
    std::uint64_t agent_bytes = 64u << 20, probe_bytes = 64u << 20, block_bytes = AgentOptions().block_bytes;
    std::uint64_t slots = 1, at_once = 512, probes_a_node = 4, nodes_wanted = 0;
    double seconds = 60;
    bool json = false, replace = false;
};

void add_preflight_options(Verb& verb, PreflightArguments& arguments);

/// Checks the nodes, prints the results and writes the files. Only the asking rank (rank 0) calls it, once. `hosts` are
/// the hosts for the file of good hosts; if empty, $PBS_NODEFILE.
struct PreflightDone {
    Exit exit = Exit::good;
    bool all_answered = true;
    int signal = 0;  // signal that interrupted it; 0: none
};
Result<PreflightDone> preflight_with(advice::Nodes& nodes, const PreflightArguments& arguments,
                                     const std::vector<std::string>& hosts, const std::function<int()>& signal);

}  // namespace forebay::cli
