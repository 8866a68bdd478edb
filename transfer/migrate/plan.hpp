// The plan of a migration, PLAN.toml: the projects with sources and targets, and options. The guide lists all keys.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::migrate {

/// True for "s3://bucket/prefix" and the like: no directory of this machine.
inline bool is_remote(const std::string& place) { return place.find("://") != place.npos; }

struct ProjectPlan {
    std::string name, source, target;
    std::vector<std::string> include, exclude;
    std::string preserve = "all";
    std::string freeze, release;  // commands of the site
    bool one_file_system = false, verify = false, compares_bytes = true;
    bool removes = false, removes_excluded = false;
    double wait_days = 30;

    bool has_patterns() const { return !include.empty() || !exclude.empty(); }
};

struct BatchPlan {
    std::string queue, account, time = "24:00:00";
    std::uint32_t nodes = 1;
    std::vector<std::string> lines;  // extra lines of the scripts, after their directives
};

struct MigrationPlan {
    std::string path;
    std::string state, reports;               // directories
    std::string hosts;                        // as for --hosts of the verbs
    std::string rate;                         // as for --rate, for all projects together
    std::uint64_t rate_bytes_per_second = 0;  // the value of `rate`; the caller sets it, because it can parse amounts
    std::uint32_t threads = 0, at_once = 4, sync_turns = 3;
    std::uint64_t sync_small = 1000;
    double hook_minutes = 30;
    BatchPlan batch;
    std::vector<ProjectPlan> projects;
    std::vector<std::string> names;  // all project names, sorted, also those not chosen
};

/// Returns `refused`, with the line, for an invalid plan, and if places of different projects overlap.
Result<MigrationPlan> read_plan(const std::string& text, const std::string& path);

/// Canonical form, equal for all names of a place: without symbolic links and "..", with a slash at the end.
std::string resolved_place(const std::string& path);

/// The plan with only these projects; all if `names` is empty.
Result<MigrationPlan> chosen_from(MigrationPlan plan, const std::vector<std::string>& names);

}  // namespace forebay::migrate
