// The targets of all projects in a state directory, under their old names too. If a plan renames a project, a new copy
// would begin, and its sync would remove the users' work since the release.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transfer/migrate/plan.hpp"
#include "transfer/migrate/root.hpp"

namespace forebay::migrate {

class TakenTargets {
public:
    /// `plan` must outlive it. The first call by any thread reads the states, once.
    explicit TakenTargets(const MigrationPlan& plan) : plan_(plan) {}

    /// Returns `refused` if the target of `project` overlaps a target that another project copies to, or a source that
    /// is not removed; also if it is or lies in such a directory, now mounted elsewhere. Also if a state without a
    /// project in the plan cannot be read, because then nobody knows.
    Result<> check(const ProjectPlan& project);

private:
    struct Place {
        std::string path, in_file_system;      // in_file_system is equal for all bind mounts; may be empty
        std::optional<sys::EntryId> seen;      // the present directory
        std::optional<RootIdentity> root;      // recorded in its state, wherever it is mounted
        bool meets(const Place& other) const;  // equal, inside or around
    };
    using Roots = std::vector<RootIdentity>;  // of a directory and all its parents
    struct Target {
        Place place;
        std::optional<Place> source;  // none if it was removed
        std::string project;
        std::int64_t since_unix_s = 0;
        bool is_in_use = false;  // users work in it
    };
    Place place_of(const std::string& path) const;
    static Roots roots_at(std::string path);
    static bool is_among(const Roots& roots, const Place& noted);
    Result<> read();
    Result<> read_one(const std::string& name);

    const MigrationPlan& plan_;
    std::mutex mutex_;
    std::optional<Result<>> was_read_;
    std::string mounts_;
    std::vector<Target> targets_;
};

}  // namespace forebay::migrate
