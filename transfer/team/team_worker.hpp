// A process that works for the coordinator until all is done.

#pragma once

#include <memory>
#include <string>

#include "core/sys/thread.hpp"
#include "transfer/team/team.hpp"
#include "transfer/team/team_lease.hpp"
#include "transfer/team/team_order.hpp"
#include "transfer/team/team_port.hpp"

namespace forebay::tree {

/// Runs the order of the coordinator. Returns an error if the coordinator is gone or refuses this worker; both report
/// it. `threads` is the number if the order has none.
Result<> serve_team(std::unique_ptr<TeamPort> port, const std::string& version, std::uint32_t threads);

/// A worker's part of a verb. A thread of its own receives messages and reports that the worker lives.
class TeamMembership {
public:
    /// Changes happen only within `lease`. Beats of the coordinator renew it.
    TeamMembership(TeamPort& port, const TeamOrder& order, TeamLease& lease);
    TeamMembership(const TeamMembership&) = delete;
    TeamMembership& operator=(const TeamMembership&) = delete;
    ~TeamMembership() { hearing_.join(); }

    Team& team() { return team_; }
    /// Reports this worker as ready. From then on the coordinator may send work.
    Result<> start(TeamWork work);
    /// Call after the share has ended and its last steps are done: sends `done` and the last counts.
    Result<> leave(const Result<>& done);

private:
    void hear();
    void end_alone();

    TeamPort& port_;
    TeamLease& lease_;
    const std::chrono::seconds timeout_;
    Team team_;
    std::atomic<bool> is_alone_{false}, is_leaving_{false};
    sys::Thread hearing_;
};

/// Reads the list of paths of the order from the coordinator.
Result<WishedRef> ask_for_list(TeamPort& port, std::size_t memory_bytes);

/// Each opens the trees of the order and checks that they are the coordinator's trees.
Result<> copy_for_team(TeamPort& port, const TeamOrder& order);
Result<> walk_for_team(TeamPort& port, const TeamOrder& order);
Result<> compare_for_team(TeamPort& port, const TeamOrder& order);
Result<> remove_for_team(TeamPort& port, const TeamOrder& order);

/// Returns `refused` if the directory at `path` is not the coordinator's directory, or has other mounts below it.
Result<> check_team_root(sys::Folder& folder, const TeamRoot& root, const std::string& path);
/// Checks only the mounts: a process without a mount of the tree would take that part for empty.
Result<> check_team_mounts(sys::Folder& folder, const TeamRoot& root, const std::string& path);

}  // namespace forebay::tree
