// One process's part of a copy that several processes share: what a copy says to the others and hears from them.

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
    /// All that is given outlives it, as long as the share runs.
    CopyTeam(CopyParts& parts, Team& team);

    TeamWork work(const DirNodeRef& root);
    /// Of the first process: what others have to say for the report and for all.
    void settle(const TeamMessage& message);
    /// After the others have ended: folders that they have put off are this process's now, and names of one inode are
    /// asked of `lead` at once.
    Result<> take_over(Coordinator& lead);

private:
    struct Asked {
        sys::EntryId source, existing;  // as this host numbers them
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
    std::mutex mutex_;                               // guards what follows
    std::map<sys::EntryId, Asked> asked_;            // without an answer yet
    std::map<sys::EntryId, sys::EntryId> known_as_;  // as all name it, of those that this process copies
    std::set<std::pair<std::string, std::string>> deferred_;
};

/// Of the first process, before anything is copied: all members see both trees.
Result<> begin_copy_team(const std::string& source, const std::string& target, const std::string& prefix,
                         const TreeCopyOptions& options, const EntryLog& entry_log, sys::Folder& source_root,
                         sys::Folder* target_root);

}  // namespace forebay::tree
