// A folder of the tree, or of the two trees, that a mover works on, and the folders above it. It keeps the name and not
// the descriptor: with 4,000 folders one in the other, open folders are many more than a process may have.
//
// Life:    made when its parent is listed -> its entries, and those of all folders below -> finished
// Threads: any may open it and count on `pending`; the one that enters it sets the rest, before others see it.

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

/// Which of the two trees; a mover of one tree has its source alone.
enum class TreeSide : std::size_t { source, target };

using FolderRef = std::shared_ptr<sys::Folder>;
struct DirNode;
class PathList;
class CaseFoldNames;
using DirNodeRef = std::shared_ptr<DirNode>;

/// Of a folder in which something is removed: when it was last seen under its name, where it was entered.
struct DirNodeSeen {
    /// A folder that was moved loses so many of its entries at most before that is noticed.
    static constexpr std::uint32_t removed_max = 256;
    void see();
    std::atomic<std::int64_t> at_ns{0};  // of the steady clock
    std::atomic<std::uint32_t> removed_since{0};
    std::atomic<bool> has_gone{false};  // it is not there any more
};

/// What is found and done when a folder is entered.
struct DirNodeAtEntry {
    bool is_untouched = false;          // nobody renamed it, or what is in it, since the last copy
    bool gives_acl = false;             // the target's folder has a default ACL, which new entries inherit
    std::uint32_t temporary_chmod = 0;  // that the target's folder has not, but while it is filled
    DirNodeSeen in_place;
};

struct DirNodePlace {
    DirNodeRef parent;  // null of the root
    std::string name;
    std::uint64_t depth = 0;  // how many are above
};

/// Of the target's folder: set by Spellings::of().
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
    /// Frees the branches above that nobody else holds, one after the other: a destructor in a destructor would need a
    /// stack as deep as the tree.
    ~DirNode();

    const sys::EntryStatus& status(TreeSide side) const { return statuses[static_cast<std::size_t>(side)]; }
    sys::EntryStatus& status(TreeSide side) { return statuses[static_cast<std::size_t>(side)]; }

    std::array<sys::EntryStatus, 2> statuses;  // when it was entered
    /// What is still to do before it is finished: its own listing, portions of it, folders and large files below.
    std::atomic<std::uint64_t> pending{1};
    std::atomic<bool> was_changed{false};   // the target's folder: its times are not what they were
    bool was_entered = false;               // on all sides
    bool is_new = false;                    // made by this run
    std::atomic<bool> was_made{false};      // the same, and nothing but what this process knows of is in it
    std::atomic<bool> holds_wanted{false};  // with patterns to include: an entry that fits lies in it, or below
    std::atomic<bool> had_loss{false};      // a process was lost that worked in it: its temporary names may be there
    DirNodeAtEntry seen;                    // when it was entered
    PathList* wished = nullptr;             // a list that asks for parts of it; null: all is meant
    PathList* named = nullptr;              // where all is meant: a list that has paths of it beside that
    std::vector<std::string> leftovers;     // unfinished large files of an earlier run: removed where nobody goes on
    NameCase name_case;
    /// Of a folder that another process works on and has given away a part of: called in place of finishing it.
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
        std::shared_ptr<std::atomic<std::size_t>> open;  // how many there are of this side; none: it is not counted
        bool was_used = false;
    };
    std::array<Handle, 2> handles_;  // guarded by OpenFolders
};

/// Of folders while they are filled or emptied.
inline constexpr std::uint32_t while_filled = 0700;

/// Gives `user` what he lacks of these permissions in the target's folder of a branch, if it is his own; root lacks
/// none. The branch has its status.
Result<> lend_permissions(DirNode& dir_node, sys::Folder& folder, std::uint32_t user);
Result<> take_back_chmod(DirNode& dir_node, sys::Folder& folder);

/// Of a folder below one that lies on `device`: whether something is mounted there, of the same file system, too.
inline bool is_other_file_system(const sys::EntryStatus& status, std::uint64_t device) {
    return status.id.device != device || status.is_mount;
}

/// Whether the source's folder `id` is one of those above.
inline bool lies_in_source(const DirNode& dir_node, const sys::EntryId& id) {
    for (const auto* at = dir_node.parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == id) return true;
    return false;
}

/// An entry that fits lies in `dir_node`.
inline void note_wanted(DirNode* dir_node) {
    for (; dir_node != nullptr && !dir_node->holds_wanted.exchange(true);) dir_node = dir_node->parent.get();
}

/// "fields/u" of the entry "u" of the branch "fields"; "." of the root itself.
std::string path_of(const DirNode& dir_node, const std::string& name);
std::string path_of(const DirNode& dir_node);

/// The branches' folders, of which few are open at a time. The others are opened anew, name by name from the nearest
/// one above that is open, and must still be the folders that were entered. Any thread may call it.
class OpenFolders {
public:
    Result<FolderRef> get(const DirNodeRef& dir_node, TreeSide side);
    /// The branch was entered: `folder` has the status that it holds.
    void keep(const DirNodeRef& dir_node, TreeSide side, FolderRef folder);
    /// Of an entry of `dir_node` that both sides had, or with an empty name of the branch itself: where something is
    /// gone
    /// and the source still has it, the error says that it is gone at the target.
    Error with_side(const DirNodeRef& dir_node, const std::string& name, const Error& error);
    /// The branch is finished.
    void close(DirNode& dir_node);

private:
    /// Of one side. Each has its own limit: on the way back up a chain both sides are opened anew in turn, and would
    /// drive each other out.
    struct Open {
        std::deque<std::weak_ptr<DirNode>> order;  // as they were opened; what was used since gets a second turn
        std::shared_ptr<std::atomic<std::size_t>> count = std::make_shared<std::atomic<std::size_t>>(0);
    };
    void drop_some(TreeSide side);

    std::mutex mutex_;
    std::array<Open, 2> open_;
};

/// Takes one from what `dir_node` waits for. Where that was the last, `finish(dir_node)` is called and its folders are
/// closed, which takes one from what the branch above waits for. True: the root was finished.
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
        // Held while the branch goes, so that its destructor finds the one above in use.
        auto above = dir_node->parent;
        dir_node = std::move(above);
    }
    return false;
}

}  // namespace forebay::tree
