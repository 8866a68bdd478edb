// Which targets projects of a state directory have copied to, whatever a plan calls these projects now. A plan that
// gives a project another name would else begin it anew, and its sync would remove what users wrote after the release.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "migrate/plan.hpp"

namespace forebay::migrate {

class TakenTargets {
public:
    /// `plan` must outlive it. States are read when they are asked for first, once, by whichever thread.
    explicit TakenTargets(const MigrationPlan& plan) : plan_(plan) {}

    /// `refused` where the target of `project` is one to which another project has begun to copy, or a source of one
    /// that is not removed, or lies in or around these; and where the state of a project that the plan has not cannot
    /// be read, so that nobody knows.
    Result<> check(const ProjectPlan& project);

private:
    struct Target {
        std::string place, source;  // no source that was removed
        std::string project;
        std::int64_t since_unix_s = 0;
        bool is_in_use = false;  // by its users
    };
    Result<> read();
    Result<> read_one(const std::string& name);

    const MigrationPlan& plan_;
    std::mutex mutex_;
    std::optional<Result<>> was_read_;
    std::vector<Target> targets_;
};

}  // namespace forebay::migrate
