// What people see of a preflight, and what they can paste.

#pragma once

#include <string>
#include <vector>

#include "insight/advice/preflight/preflight.hpp"

namespace forebay::advice {

/// What the lines are for, by where preflight runs.
struct Pasting {
    std::string out;     // the directory of the files
    std::string target;  // for lfs setstripe
    bool slurm = false, pbs = false;
    bool good_hosts = false;  // out/nodes.good was written
};
/// Lines for the scheduler, the launcher and the file system, and how many spare nodes to ask for.
std::vector<std::string> lines_to_paste(const PreflightOutcome& outcome, const PreflightRequest& request,
                                        const Pasting& pasting);

/// The screen: counts, then only what is bad, the worst first; names in it command no terminal.
std::string screen_of(const PreflightOutcome& outcome, const PreflightRequest& request,
                      const std::vector<format::Finding>& findings);

}  // namespace forebay::advice
