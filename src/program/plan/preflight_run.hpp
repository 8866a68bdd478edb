// `forebay preflight` as both programs have it: the options, and what is done with nodes, whichever they are.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/terminal/command_line.hpp"
#include "insight/advice/preflight/nodes.hpp"

namespace forebay::cli {

struct PreflightArguments {
    std::string target, staging = "/dev/shm", servers, site, out = ".", binary, pool, plan, after;
    std::vector<std::string> targets;
    std::uint64_t application_bytes = 0, bytes_per_node = 0, planned_bytes = 0;
    std::uint64_t agent_bytes = 64u << 20, probe_bytes = 64u << 20;
    std::uint64_t slots = 1, at_once = 512, probes_a_node = 4, nodes_wanted = 0;
    double seconds = 60;
    bool json = false, replace = false;
};

void add_preflight_options(Verb& verb, PreflightArguments& arguments);

/// Asks, prints, and writes the files. Those who ask others (rank 0) call it, once. `hosts` are those that a file of
/// good ones is made of; where it is empty, $PBS_NODEFILE.
struct PreflightDone {
    Exit exit = Exit::good;
    bool all_answered = true;
    int signal = 0;  // that has interrupted it; 0: none
};
Result<PreflightDone> preflight_with(advice::Nodes& nodes, const PreflightArguments& arguments,
                                     const std::vector<std::string>& hosts, const std::function<int()>& signal);

}  // namespace forebay::cli
