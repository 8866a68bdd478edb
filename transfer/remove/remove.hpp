// Removes trees, or what lies in them, by all threads. No link is followed and no mount is crossed: what is mounted in
// the tree stays, and is said. A folder that somebody moves meanwhile is not emptied any further: its place is looked
// at again after some removals.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/amount.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/filter.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

class Team;
class Coordinator;

/// The part of a removal that goes down one tree; its owner has the share, the open folders and what they end with.
class TreeRemover {
public:
    struct Shared {
        OpenFolders& folders;
        EntryLog& entry_log;
        std::atomic<std::uint64_t>& removed;
        std::function<void()> tick{};
        std::function<void(const DirNodeRef&)> finish_other{};  // of a branch that is not removed itself
        bool is_dry = false;
        Amount* would_remove = nullptr;  // in a dry run
        Team* team = nullptr;            // where other processes share the work
        std::vector<sys::EntryId>
            protected_entries{};              // folders that the tree may have by another path: the source of its copy
        const EntryFilter* filter = nullptr;  // what it leaves out stays, with the folders above it
        std::uint32_t lends_to = 0;           // of a target: this user may remove in folders of his own that are closed
    };

    TreeRemover(Shared shared, TreeSide side) : shared_(std::move(shared)), side_(side) {}

    /// `refused` for a folder that is spared.
    Result<> check_removable(const sys::EntryId& folder) const;
    /// Before something of a folder is removed; finish() takes it back.
    Result<> lend(DirNode& dir_node, sys::Folder& folder);
    /// Before something of a folder is removed: whether it lies where it was entered. If not, that was reported.
    bool is_in_place(const DirNodeRef& dir_node, const sys::Folder& folder);
    /// The folder `name` of `above` and all in it, by the share of `worker`; it counts in the `pending` of `above`, and
    /// `done_in` gives that back, as it does of all folders below.
    void add_folder(TreeWorker& worker, const DirNodeRef& above, const std::string& name);
    void remove_entries(const DirNodeRef& above, sys::Folder& folder, std::span<const std::string> names);
    /// To be called where the last thing of a folder that add_folder() took is done.
    void finish(const DirNodeRef& dir_node);
    /// Ends one thing of a branch, and all above that ends with it.
    void done_in(DirNodeRef dir_node);
    /// A folder that was listed, with all in it.
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);

private:
    void count(const DirNode& above, const std::string& name);
    void take_back(const DirNodeRef& dir_node);
    void report(std::string path, const Error& error);
    bool is_seen(const DirNodeRef& dir_node);
    void note(const DirNodeRef& above, sys::Folder& folder, const std::string& name);
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> remove_listed(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& folder);
    bool takes(const DirNodeRef& dir_node, const std::string& name, sys::EntryKind kind) const;
    void keep_above(const DirNodeRef& dir_node);

    Shared shared_;
    TreeSide side_;
    std::mutex mutex_;
    std::set<const DirNode*> keeping_;  // guarded by mutex_; folders, not finished yet, in which something stays
};

/// Whether the folder `name` of `above` would stay, since the filter leaves out something that lies in it.
Result<bool> holds_left_out(OpenFolders& folders, TreeSide side, const DirNodeRef& above, const std::string& name,
                            const EntryFilter& filter);

struct RemoveOptions {
    std::uint32_t threads = 1;
    bool is_dry = false;
    Amount* would_remove = nullptr;  // in a dry run: what there is
    std::function<void(std::uint64_t removed)> watch{};
    Coordinator* lead = nullptr;  // of other processes that share the work
};

/// Removes the folder at `path` with all in it, or where that is an address, a file at it. Errors of single entries are
/// in `entry_log`: they stay, as do the folders above them.
Result<> remove_tree(const std::string& path, const RemoveOptions& options, EntryLog& entry_log,
                     std::atomic<std::uint64_t>& removed);

}  // namespace forebay::tree
