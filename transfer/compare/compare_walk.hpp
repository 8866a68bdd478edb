// One process's part of a comparison. compare.cpp walks both trees, compare_entry.cpp compares entries.
//
// Threads: any, as pieces of the share.

#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "transfer/compare/compare.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/team/coordinator.hpp"
#include "transfer/team/team_counts.hpp"
#include "transfer/walk/name_batch.hpp"
#include "transfer/walk/pulse.hpp"

namespace forebay::tree {

struct BothFolders {
    FolderRef source, target;
};
struct BothStatuses {
    sys::EntryStatus source, target;
};
struct OpenedTarget {
    std::unique_ptr<sys::OpenFile> file;  // null: not open yet
    sys::EntryStatus status;
};
/// For a source inode: its counterpart in the target, and the state in which bytes and attributes were equal; 0 if they
/// were not.
struct ComparedInode {
    sys::EntryId target;
    std::uint64_t equal = 0;
};

class CompareWalk {
public:
    CompareWalk(const CompareOptions& options, EntryLog& entry_log, CompareCounts& counts, Team* team)
        : options_(options),
          entry_log_(entry_log),
          counts_(counts),
          team_(team),
          team_counts_(fields_of(counts, options.filter)),
          share_(options.threads),
          stored_(options.recalls),
          inodes_(options.tables.inode_bytes),
          reverse_(options.tables.inode_bytes) {}

    Result<DirNodeRef> open_root(FolderRef source, FolderRef target);
    /// A worker of a group compares only its work items.
    Result<> run(const DirNodeRef& root, bool is_first);
    TeamWork work(const DirNodeRef& root);
    void settle(const TeamMessage& message);

private:
    static std::vector<std::atomic<std::uint64_t>*> fields_of(CompareCounts& counts, const EntryFilter& filter) {
        auto fields = filter.uses();
        fields.insert(fields.begin(), {&counts.entries, &counts.bytes});
        return fields;
    }
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<FolderRef> open(const DirNodeRef& dir_node, TreeSide side);
    Result<bool> hold_names(const DirNode& dir_node, TreeSide side, sys::Folder& folder, HeldNames& held,
                            NameBatch& names);
    Result<> settle_listing(const DirNode& dir_node, TreeSide side, sys::Folder& folder, const Result<>& listed);
    void compare_names(TreeWorker& worker, const DirNodeRef& dir_node, NameBatch first, NameBatch other);
    Result<> compare_by_name(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target);
    void look_for_names(const DirNodeRef& dir_node, const NameBatch& batch);
    void only(EntryEvent kind, const DirNode& dir_node, const std::string& name, sys::EntryKind of);
    void compare_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch);
    Result<> compare_entry(TreeWorker& worker, const DirNodeRef& dir_node, const BothFolders& folders,
                           const ListedName& named);
    Result<> compare_files(TreeWorker& worker, const DirNodeRef& dir_node, const BothFolders& folders,
                           const ListedName& named);
    Result<bool> was_compared(const DirNode& dir_node, const BothFolders& folders, const ListedName& named);
    Result<std::optional<OpenedTarget>> open_target(const DirNode& dir_node, const BothFolders& folders,
                                                    const ListedName& named);
    Result<std::string> data_difference(TreeWorker& worker, sys::OpenFile& file, OpenedTarget& other,
                                        const sys::EntryStatus& source, std::string difference);
    Result<std::optional<sys::EntryStatus>> target_of(const DirNode& dir_node, const BothFolders& folders,
                                                      const std::string& name, sys::EntryKind kind);
    Result<std::string> other_difference(const BothFolders& folders, const std::string& name, const BothStatuses& both);
    Result<std::string> folder_difference(const DirNodeRef& dir_node);
    Result<std::string> name_difference(const BothStatuses& both, bool is_equal);
    Result<std::string> difference_of_names(const sys::EntryId& source, const sys::EntryId& target,
                                            std::uint64_t equal);
    void say_names(const DirNodeRef& dir_node, const std::string& name, const BothStatuses& both);
    void differs(const DirNodeRef& dir_node, const std::string& name, const std::string& why);
    void finish(const DirNodeRef& dir_node);
    void done_in(DirNodeRef dir_node);
    void tick();

    const CompareOptions& options_;
    EntryLog& entry_log_;
    CompareCounts& counts_;
    Team* team_;
    TeamCounts team_counts_;
    OpenFolders folders_;
    WorkShare share_;
    StoredLayouts stored_;
    std::uint64_t device_ = 0;
    Pulse pulse_;
    std::atomic<std::uint64_t> held_bytes_{0};
    std::mutex mutex_;  // guards the members below
    InodeMap<ComparedInode> inodes_;
    InodeMap<sys::EntryId> reverse_;
    Result<> ended_;  // reason for an early end
};

}  // namespace forebay::tree
