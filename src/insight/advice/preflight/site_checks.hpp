// The site's view of its storage and of this job, asked once: states of storage targets, quota, space and time for the
// run, and the existence of a profile. Uses programs of the site if they exist.
//
// Threads: any. Waits for each program at most the deadlines of its rules.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "insight/advice/preflight/rules.hpp"
#include "insight/advice/preflight/site_texts.hpp"

namespace forebay::advice {

struct SiteAsk {
    std::string target;                                // a directory there
    std::string pool;                                  // of DAOS; "": none
    std::uint64_t planned_bytes = 0, block_bytes = 0;  // agent.block_bytes of the run
    double planned_seconds = 0;
};

/// Returns a program's output; `missing` if there is no such program.
using RunProgram =
    std::function<Result<std::string>(const std::vector<std::string>& command, std::chrono::milliseconds at_most)>;

/// OSTs of a directory's file system, each with its server if known. Empty if it is not Lustre.
struct Ost {
    OstState state;
    std::string server;
};
std::vector<Ost> osts_of(const std::string& directory, const Rules& rules, const RunProgram& run);

/// Judges letters, free space and inactivity. Subjects are target names.
void judge_osts(const std::vector<Ost>& osts, const Rules& rules, std::vector<format::Finding>& findings);
void judge_pool(const PoolState& pool, const std::string& name, const Rules& rules,
                std::vector<format::Finding>& findings);

/// Checks pool, budget and profile.
void check_site(const SiteAsk& site, const Rules& rules, const RunProgram& run, std::vector<format::Finding>& findings);

}  // namespace forebay::advice
