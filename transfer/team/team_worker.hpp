// A process that works for the first one of a team until that says that all is done.

#pragma once

#include <memory>
#include <string>

#include "core/sys/thread.hpp"
#include "transfer/team/team.hpp"
#include "transfer/team/team_lease.hpp"
#include "transfer/team/team_order.hpp"
#include "transfer/team/team_port.hpp"

namespace forebay::tree {

/// Does what the first process orders. An error: the first process is gone, or has nothing for this one; both know.
/// `threads`: where the order does not say how many.
Result<> serve_team(std::unique_ptr<TeamPort> port, const std::string& version, std::uint32_t threads);

/// What a verb's part in a member is made of; one thread beside the verb's own hears and tells that it lives.
class TeamMembership {
public:
    /// Nothing is changed but within `lease`, which hears for how long the first process counts on this one.
    TeamMembership(TeamPort& port, const TeamOrder& order, TeamLease& lease);
    TeamMembership(const TeamMembership&) = delete;
    TeamMembership& operator=(const TeamMembership&) = delete;
    ~TeamMembership() { hearing_.join(); }

    Team& team() { return team_; }
    /// The first process may give work from now on. Before, it is told that this one is ready.
    Result<> start(TeamWork work);
    /// After the share has ended, and all that has to be done then: `done` and the last counts are told.
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

/// The paths of an order that has a list, as the first process has them.
Result<WishedRef> ask_for_list(TeamPort& port, std::size_t memory_bytes);

/// Each opens the trees of the order and checks that they are those of the first process.
Result<> copy_for_team(TeamPort& port, const TeamOrder& order);
Result<> walk_for_team(TeamPort& port, const TeamOrder& order);
Result<> compare_for_team(TeamPort& port, const TeamOrder& order);
Result<> remove_for_team(TeamPort& port, const TeamOrder& order);

/// `refused` where the folder at `path` is not the one that the first process has there, or has something else mounted
/// below it.
Result<> check_team_root(sys::Folder& folder, const TeamRoot& root, const std::string& path);
/// Of what is mounted alone: a process that has not mounted a part of the tree would take it for empty.
Result<> check_team_mounts(sys::Folder& folder, const TeamRoot& root, const std::string& path);

}  // namespace forebay::tree
