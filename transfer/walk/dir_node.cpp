#include "transfer/walk/dir_node.hpp"

#include <algorithm>
#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/entry_log.hpp"

namespace forebay::tree {

namespace {

// A process may have 1,024 descriptors by default, and each of the two trees may use 256. In a chain of 4,000
// directories the deepest 256 stay open. On the way back up each directory is opened again about 8 times, in 16 rounds.
constexpr std::size_t open_max = 256;
// When the list has this many entries, entries of freed nodes are removed: a weak pointer keeps their memory.
constexpr std::size_t order_max = 4 * open_max;

Error moved(const DirNode& dir_node) {
    return {ErrorKind::retry, path_of(dir_node) + " was renamed or replaced during the walk"};
}

}  // namespace

DirNode::~DirNode() {
    auto above = std::move(parent);
    while (above && above.use_count() == 1) {
        // use_count() gives no memory order. Taking and dropping a reference makes the changes of the last other owner
        // visible.
        DirNodeRef(above).reset();
        auto next = std::move(above->parent);
        above = std::move(next);
    }
}

Result<> lend_permissions(DirNode& dir_node, sys::Folder& folder, std::uint32_t user) {
    auto& status = dir_node.status(TreeSide::target);
    const auto lacking = while_filled & ~status.permissions;
    if (user == 0 || status.user != user || lacking == 0) return {};
    FB_TRY(folder.set_permissions(status.permissions | lacking));
    dir_node.seen.temporary_chmod |= lacking;
    status.permissions |= lacking;
    return {};
}

Result<> take_back_chmod(DirNode& dir_node, sys::Folder& folder) {
    const auto temporary = std::exchange(dir_node.seen.temporary_chmod, 0);
    if (temporary == 0) return {};
    auto& permissions = dir_node.status(TreeSide::target).permissions;
    permissions &= ~temporary;
    return folder.set_permissions(permissions);
}

std::string path_of(const DirNode& dir_node) {
    std::vector<const std::string*> names;
    for (const auto* at = &dir_node; at->parent; at = at->parent.get()) names.push_back(&at->name);
    std::string path;
    for (auto name = names.rbegin(); name != names.rend(); ++name) path += (path.empty() ? "" : "/") + **name;
    return path.empty() ? "." : path;
}

std::string path_of(const DirNode& dir_node, const std::string& name) {
    return dir_node.parent ? path_of(dir_node) + "/" + name : name;
}

Result<FolderRef> OpenFolders::get(const DirNodeRef& dir_node, TreeSide side) {
    const auto index = static_cast<std::size_t>(side);
    std::vector<DirNodeRef> closed;
    FolderRef folder;
    {
        const std::lock_guard lock(mutex_);
        // Walk up to the nearest open directory. The root is always open.
        for (auto at = dir_node; at && !folder; at = at->parent) {
            folder = at->handles_[index].folder;
            if (folder) at->handles_[index].was_used = true;
            else closed.push_back(at);
        }
    }
    if (!folder) return Error{ErrorKind::broken, "the root of a tree is not open"};
    for (auto below = closed.rbegin(); below != closed.rend(); ++below) {
        FB_TRY_ASSIGN(opened, folder->open_folder((*below)->name));
        FB_TRY_ASSIGN(status, opened->status());
        // A renamed or replaced directory opens under the same name. Only its inode number shows the exchange.
        if (status.id != (*below)->status(side).id) return moved(**below);
        folder = std::move(opened);
        keep(*below, side, folder);
    }
    return folder;
}

void OpenFolders::keep(const DirNodeRef& dir_node, TreeSide side, FolderRef folder) {
    const std::lock_guard lock(mutex_);
    auto& handle = dir_node->handles_[static_cast<std::size_t>(side)];
    handle.close();
    handle.folder = std::move(folder);
    handle.was_used = true;
    if (!dir_node->parent) return;  // the root stays
    auto& open = open_[static_cast<std::size_t>(side)];
    handle.open = open.count;
    ++*open.count;
    open.order.push_back(dir_node);
    drop_some(side);
}

Error OpenFolders::with_side(const DirNodeRef& dir_node, const std::string& name, const Error& error) {
    const auto& above = name.empty() ? dir_node->parent : dir_node;
    if (error.kind != ErrorKind::missing || !above) return error;
    const auto folder = get(above, TreeSide::source);
    if (!folder || !(*folder)->status_of(name.empty() ? dir_node->name : name)) return error;
    return {ErrorKind::broken, std::string(at_target) + ": an entry vanished during the walk: " + error.what};
}

void OpenFolders::close(DirNode& dir_node) {
    if (!dir_node.parent) return;
    const std::lock_guard lock(mutex_);
    for (auto& handle : dir_node.handles_) handle.close();
}

void OpenFolders::drop_some(TreeSide side) {
    const auto index = static_cast<std::size_t>(side);
    auto& [order, count] = open_[index];
    // Second-chance eviction: a handle that was used since its last turn goes to the back. Two rounds see each handle
    // twice, so the loop ends.
    for (auto turns = 2 * order.size(); *count > open_max && turns > 0; --turns) {
        auto oldest = std::move(order.front());
        order.pop_front();
        const auto dir_node = oldest.lock();
        if (!dir_node) continue;
        auto& handle = dir_node->handles_[index];
        if (!handle.folder) continue;
        if (std::exchange(handle.was_used, false)) {
            order.push_back(std::move(oldest));
        } else {
            handle.close();
        }
    }
    if (order.size() > order_max)
        std::erase_if(order, [index](const std::weak_ptr<DirNode>& held) {
            const auto dir_node = held.lock();
            return !dir_node || !dir_node->handles_[index].folder;
        });
}

}  // namespace forebay::tree
