// What the site says of its storage and of this job, asked once: states of storage targets, quota, room and time that
// the run needs, and whether there is a profile. Programs of the site are asked where they exist.
//
// Threads: any; waits at most the deadlines of its rules for each program.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "insight/advice/preflight/rules.hpp"
#include "insight/advice/preflight/site_texts.hpp"

namespace forebay::advice {

struct SiteAsk {
    std::string target;  // a directory there
    std::string pool;    // of DAOS; "": none
    std::uint64_t planned_bytes = 0;
    double planned_seconds = 0;
};

/// What a program prints; `missing` where there is none.
using RunProgram =
    std::function<Result<std::string>(const std::vector<std::string>& command, std::chrono::milliseconds at_most)>;

/// OSTs of the file system of a directory, each with its server where that is told. Empty where it is no Lustre.
struct Ost {
    OstState state;
    std::string server;
};
std::vector<Ost> osts_of(const std::string& directory, const Rules& rules, const RunProgram& run);

/// Letters, room and inactivity; subjects are the names of targets.
void judge_osts(const std::vector<Ost>& osts, const Rules& rules, std::vector<format::Finding>& findings);
void judge_pool(const PoolState& pool, const std::string& name, const Rules& rules,
                std::vector<format::Finding>& findings);

/// Pool, budget and profile.
void check_site(const SiteAsk& site, const Rules& rules, const RunProgram& run, std::vector<format::Finding>& findings);

}  // namespace forebay::advice
