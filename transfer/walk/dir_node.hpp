// A directory of the tree, or of the two trees, that a verb works on, with its parents. It keeps the name and no
// descriptor: a chain of 4,000 directories has more directories than a process may have descriptors.
//
// Life: made when its parent is listed -> its entries and all directories below -> finished
// Threads: any may open it and change `pending`. The thread that enters it sets the rest, before other threads see it.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::tree {

/// One of the two trees. A verb on one tree uses only `source`.
enum class TreeSide : std::size_t { source, target };

using FolderRef = std::shared_ptr<sys::Folder>;
struct DirNode;
class PathList;
class CaseFoldNames;
using DirNodeRef = std::shared_ptr<DirNode>;

/// For a directory that loses entries: the last time it was seen under its name in the directory above.
struct DirNodeSeen {
    /// A directory that is moved away loses at most this many entries before the move is noticed.
    static constexpr std::uint32_t removed_max = 256;
    void see();
    std::atomic<std::int64_t> at_ns{0};  // of the steady clock
    std::atomic<std::uint32_t> removed_since{0};
    std::atomic<bool> has_gone{false};  // it is gone
};

/// State of a directory since it was entered.
struct DirNodeAtEntry {
    bool is_untouched = false;          // since the last copy nobody renamed it or its contents
    bool gives_acl = false;             // the target's directory has a default ACL, which new entries inherit
    std::uint32_t temporary_chmod = 0;  // permissions lent to the target's directory while it is filled
    DirNodeSeen in_place;
};

struct DirNodePlace {
    DirNodeRef parent;  // null for the root
    std::string name;
    std::uint64_t depth = 0;  // number of directories above
};

/// Case folding of the target's directory. CaseFoldNames::of() sets it.
struct NameCase {
    std::once_flag asked;
    std::atomic<sys::CaseFolding> folding{sys::CaseFolding::unknown};
    std::shared_ptr<CaseFoldNames> case_fold_names;
};

struct DirNode : DirNodePlace {
    DirNode(DirNodeRef above, std::string own_name) : DirNodePlace{std::move(above), std::move(own_name)} {
        if (parent) depth = parent->depth + 1;
    }
    DirNode(const DirNode&) = delete;
    DirNode& operator=(const DirNode&) = delete;
    /// Frees the parents that have no other owner in a loop. Nested destructors would need a stack as deep as the tree.
    ~DirNode();

    const sys::EntryStatus& status(TreeSide side) const { return statuses[static_cast<std::size_t>(side)]; }
    sys::EntryStatus& status(TreeSide side) { return statuses[static_cast<std::size_t>(side)]; }

    std::array<sys::EntryStatus, 2> statuses;  // when it was entered
    /// Work left before it is finished: its own listing, batches of its names, directories and large files below.
    std::atomic<std::uint64_t> pending{1};
    std::atomic<bool> was_changed{false};   // the target's directory has changed: its times must be set again
    bool was_entered = false;               // on all sides
    bool is_new = false;                    // made by this run
    std::atomic<bool> was_made{false};      // made by this run, and all entries in it are known to this process
    std::atomic<bool> holds_wanted{false};  // with include patterns: a matching entry lies in it or below
    std::atomic<bool> had_loss{false};      // a lost process worked in it and may have left temporary names
    DirNodeAtEntry seen;                    // when it was entered
    PathList* wished = nullptr;             // a list that asks for parts of it; null: all of it is requested
    PathList* named = nullptr;              // if all of it is requested: a list that also has paths below it
    std::vector<std::string>
        leftovers;  // unfinished large files of an earlier run: removed if no process continues them
    NameCase name_case;
    /// For a directory of another process that shared out a part of it: called instead of finishing it.
    std::function<void(const std::shared_ptr<DirNode>&)> give_back{};

private:
    friend class OpenFolders;
    struct Handle {
        Handle() = default;
        Handle(const Handle&) = delete;
        Handle& operator=(const Handle&) = delete;
        ~Handle() { close(); }
        void close() {
            if (folder && open) --*open;
            folder.reset();
            open.reset();
        }
        FolderRef folder;
        std::shared_ptr<std::atomic<std::size_t>> open;  // number of open handles of this side; null: not counted
        bool was_used = false;
    };
    std::array<Handle, 2> handles_;  // guarded by OpenFolders
};

/// Permissions that a directory needs while it is filled or emptied.
inline constexpr std::uint32_t while_filled = 0700;

/// Temporary chmod: gives `user` the missing permissions of `while_filled` in the target's directory, if `user` owns
/// it. Root needs none. `dir_node` must have its status.
Result<> lend_permissions(DirNode& dir_node, sys::Folder& folder, std::uint32_t user);
Result<> take_back_chmod(DirNode& dir_node, sys::Folder& folder);

/// For a directory below a directory on `device`: true if it is a mount point, also a mount of the same file system.
inline bool is_other_file_system(const sys::EntryStatus& status, std::uint64_t device) {
    return status.id.device != device || status.is_mount;
}

/// True if `id` is one of the source's directories above `dir_node`.
inline bool lies_in_source(const DirNode& dir_node, const sys::EntryId& id) {
    for (const auto* at = dir_node.parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == id) return true;
    return false;
}

/// Records that a matching entry lies in `dir_node`.
inline void note_wanted(DirNode* dir_node) {
    for (; dir_node != nullptr && !dir_node->holds_wanted.exchange(true);) dir_node = dir_node->parent.get();
}

/// "fields/u" for the entry "u" of the directory "fields"; "." for the root.
std::string path_of(const DirNode& dir_node, const std::string& name);
std::string path_of(const DirNode& dir_node);

/// The open directories. Few are open at a time. get() opens a closed directory again, name by name from the nearest
/// open parent. It returns `retry` if a directory on the way was replaced. Threads: any.
class OpenFolders {
public:
    Result<FolderRef> get(const DirNodeRef& dir_node, TreeSide side);
    /// `dir_node` was entered: `folder` has the status in the node.
    void keep(const DirNodeRef& dir_node, TreeSide side, FolderRef folder);
    /// Explains an error of the entry `name` of `dir_node`, or of `dir_node` itself if the name is empty. If the error
    /// is `missing` and the source still has the entry, the error says that it is gone at the target.
    Error with_side(const DirNodeRef& dir_node, const std::string& name, const Error& error);
    /// `dir_node` is finished.
    void close(DirNode& dir_node);

private:
    /// The open directories of one side. Each side has its own limit: on the way back up a chain both sides are opened
    /// again in turn and would close each other's directories.
    struct Open {
        std::deque<std::weak_ptr<DirNode>> order;  // in order of opening; a used handle gets a second turn
        std::shared_ptr<std::atomic<std::size_t>> count = std::make_shared<std::atomic<std::size_t>>(0);
    };
    void drop_some(TreeSide side);

    std::mutex mutex_;
    std::array<Open, 2> open_;
};

/// Counts one piece of work of `dir_node` as done. After the last piece it calls `finish(dir_node)`, closes its
/// directories and counts one piece of the parent as done. Returns true when the root is finished.
template <class Finish>
bool count_done(DirNodeRef dir_node, OpenFolders& folders, const Finish& finish) {
    while (dir_node && --dir_node->pending == 0) {
        if (dir_node->give_back) {
            folders.close(*dir_node);
            dir_node->give_back(dir_node);
            return false;
        }
        finish(dir_node);
        folders.close(*dir_node);
        if (!dir_node->parent) return true;
        // A second reference keeps the parent alive while the assignment destroys the child.
        auto above = dir_node->parent;
        dir_node = std::move(above);
    }
    return false;
}

}  // namespace forebay::tree
