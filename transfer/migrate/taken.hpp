// Which targets projects of a state directory have copied to, whatever a plan calls these projects now. A plan that
// gives a project another name would else begin it anew, and its sync would remove what users wrote after the release.

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
    /// `plan` must outlive it. States are read when they are asked for first, once, by whichever thread.
    explicit TakenTargets(const MigrationPlan& plan) : plan_(plan) {}

    /// `refused` where the target of `project` is one to which another project has begun to copy, or a source of one
    /// that is not removed, or lies in or around these; also where it is one, or lies in one, that is mounted elsewhere
    /// now. And where the state of a project that the plan has not cannot be read, so that nobody knows.
    Result<> check(const ProjectPlan& project);

private:
    struct Place {
        std::string path, in_file_system;      // the second for any bind mount; or empty
        std::optional<sys::EntryId> seen;      // the directory that is there now
        std::optional<RootIdentity> root;      // as its state has noted it, wherever it is mounted
        bool meets(const Place& other) const;  // is it, or lies in or around it
    };
    using Roots = std::vector<RootIdentity>;  // of a directory, and of all that it lies in
    struct Target {
        Place place;
        std::optional<Place> source;  // none that was removed
        std::string project;
        std::int64_t since_unix_s = 0;
        bool is_in_use = false;  // by its users
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
