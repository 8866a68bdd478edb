// Preflight's output for people, and lines to paste.

#pragma once

#include <string>
#include <vector>

#include "insight/advice/preflight/preflight.hpp"

namespace forebay::advice {

/// Where preflight runs, to choose the lines.
struct Pasting {
    std::string out;     // the directory of the files
    std::string target;  // for lfs setstripe
    bool slurm = false, pbs = false;
    bool good_hosts = false;  // out/nodes.good was written
};
/// Lines for the scheduler, the launcher and the file system, and the number of spare nodes to request.
std::vector<std::string> lines_to_paste(const PreflightOutcome& outcome, const PreflightRequest& request,
                                        const Pasting& pasting);

/// The screen: counts, then only problems, the worst first. Names cannot control the terminal.
std::string screen_of(const PreflightOutcome& outcome, const PreflightRequest& request,
                      const std::vector<format::Finding>& findings);

}  // namespace forebay::advice
