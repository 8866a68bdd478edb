// The plan of a migration, PLAN.toml: which projects are moved from where to where, and how. The guide has all keys.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::migrate {

/// "s3://bucket/prefix": no directory of this machine.
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
    std::vector<std::string> lines;  // of the scripts, after their directives
};

struct MigrationPlan {
    std::string path;
    std::string state, reports;               // directories
    std::string hosts;                        // as --hosts of the verbs takes them
    std::string rate;                         // as --rate takes it, of all projects together
    std::uint64_t rate_bytes_per_second = 0;  // what that is; set by the caller, who can read amounts
    std::uint32_t threads = 0, at_once = 4, sync_turns = 3;
    std::uint64_t sync_small = 1000;
    double hook_minutes = 30;
    BatchPlan batch;
    std::vector<ProjectPlan> projects;
    std::vector<std::string> names;  // of all, sorted, those that were not chosen among them
};

/// `refused`, with the line named, for what is no plan; and where places of different projects lie in each other.
Result<MigrationPlan> read_plan(const std::string& text, const std::string& path);

/// As two names of one place have it alike: without symbolic links and "..", and with a slash at its end.
std::string resolved_place(const std::string& path);

/// The plan with these projects alone, or all where none is named.
Result<MigrationPlan> chosen_from(MigrationPlan plan, const std::vector<std::string>& names);

}  // namespace forebay::migrate
