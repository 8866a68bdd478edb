// Removes trees, or entries of trees, on all threads. Symbolic links are not followed. A mount in the tree stays and is
// reported. If somebody moves a directory out of the tree, it is not emptied further: its place is checked after every
// few removals.

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

/// Removes one tree. Its owner provides the share, the open directories and the handlers for the end.
class TreeRemover {
public:
    struct Shared {
        OpenFolders& folders;
        EntryLog& entry_log;
        std::atomic<std::uint64_t>& removed;
        std::function<void()> tick{};
        std::function<void(const DirNodeRef&)> finish_other{};  // for a node that is not removed itself
        bool is_dry = false;
        Amount* would_remove = nullptr;  // for a dry run
        Team* team = nullptr;            // if other processes share the work
        std::vector<sys::EntryId>
            protected_entries{};  // directories that the tree may reach by another path: the source of its copy
        const EntryFilter* filter = nullptr;  // excluded entries stay, with their parents
        std::uint32_t lends_to = 0;  // user who may remove in own closed directories of a target, by a temporary chmod
    };

    TreeRemover(Shared shared, TreeSide side) : shared_(std::move(shared)), side_(side) {}

    /// Returns `refused` for a protected directory.
    Result<> check_removable(const sys::EntryId& folder) const;
    /// Temporary chmod; call it before a removal in a directory. finish() takes it back.
    Result<> lend(DirNode& dir_node, sys::Folder& folder);
    /// Call it before a removal in a directory: true if the directory is still where it was entered. A moved directory
    /// was reported.
    bool is_in_place(const DirNodeRef& dir_node, const sys::Folder& folder);
    /// Removes the directory `name` of `above` with all below it. It counts in `pending` of `above` until done_in().
    void add_folder(TreeWorker& worker, const DirNodeRef& above, const std::string& name);
    void remove_entries(const DirNodeRef& above, sys::Folder& folder, std::span<const std::string> names);
    /// Call it when the last work in a directory of add_folder() is done.
    void finish(const DirNodeRef& dir_node);
    /// Counts one piece of work of a node as done, and finishes nodes without work.
    void done_in(DirNodeRef dir_node);
    /// Removes a listed directory with all below it.
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
    std::set<const DirNode*> keeping_;  // guarded by mutex_; unfinished directories with entries that stay
};

/// True if the directory `name` of `above` would stay because it holds excluded entries.
Result<bool> holds_left_out(OpenFolders& folders, TreeSide side, const DirNodeRef& above, const std::string& name,
                            const EntryFilter& filter);

struct RemoveOptions {
    std::uint32_t threads = 1;
    bool is_dry = false;
    Amount* would_remove = nullptr;  // in a dry run: counts of the tree
    std::function<void(std::uint64_t removed)> watch{};
    Coordinator* lead = nullptr;  // coordinator of other processes that share the work
};

/// Removes the directory at `path` with all below it, or a file if `path` is a remote address. Errors of single entries
/// go to `entry_log`: these entries and their parents stay.
Result<> remove_tree(const std::string& path, const RemoveOptions& options, EntryLog& entry_log,
                     std::atomic<std::uint64_t>& removed);

}  // namespace forebay::tree
