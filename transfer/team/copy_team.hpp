// A copy's connection to the other processes of its group.

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "transfer/copy/copy_parts.hpp"
#include "transfer/team/coordinator.hpp"
#include "transfer/team/team_counts.hpp"

namespace forebay::tree {

class CopyTeam {
public:
    /// Both must outlive it while the share runs.
    CopyTeam(CopyParts& parts, Team& team);

    TeamWork work(const DirNodeRef& root);
    /// Only in the coordinator: handles a worker's message for the report or the copy.
    void settle(const TeamMessage& message);
    /// Call after the workers have ended: takes over the directories that they deferred, and from then on asks `lead`
    /// directly about inodes of several names.
    Result<> take_over(Coordinator& lead);

private:
    struct Asked {
        sys::EntryId source, existing;  // ids on this host
    };

    void deferred(const std::string& path, const std::string& name);
    HardLinks::Turn ask(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own);
    void tell(const sys::EntryId& id, const EntryPlace& at);
    void hear_link(const TeamMessage& answer);
    Result<std::string> copy_piece(TreeWorker& worker, const DirNodeRef& folder, const TeamMessage& work_item);
    TeamMessage question(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own) const;

    CopyParts& parts_;
    Team& team_;
    TeamCounts counts_;
    std::mutex mutex_;                               // guards the members below
    std::map<sys::EntryId, Asked> asked_;            // questions without an answer
    std::map<sys::EntryId, sys::EntryId> known_as_;  // ids of the group, for inodes that this process copies
    std::set<std::pair<std::string, std::string>> deferred_;
};

/// In the coordinator, before any copying: checks that all workers see both trees.
Result<> begin_copy_team(const std::string& source, const std::string& target, const std::string& prefix,
                         const TreeCopyOptions& options, const EntryLog& entry_log, sys::Folder& source_root,
                         sys::Folder* target_root);

}  // namespace forebay::tree
