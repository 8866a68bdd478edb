#include "transfer/walk/branch.hpp"

#include <algorithm>
#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/remarks.hpp"

namespace forebay::tree {

namespace {

// A process may have 1,024 descriptors by default, and each of two trees has so many. Of a chain of 4,000 folders the
// deepest 256 stay open; the way back up opens each folder some 8 times, in 16 turns.
constexpr std::size_t open_max = 256;
// Entries of an order whose branch is gone are swept out when there are this many: they keep its memory.
constexpr std::size_t order_max = 4 * open_max;

Error moved(const Branch& branch) {
    return {ErrorKind::retry, path_of(branch) +
                                  " is another folder than the one that was entered: it was renamed or "
                                  "replaced meanwhile"};
}

}  // namespace

Branch::~Branch() {
    auto above = std::move(parent);
    while (above && above.use_count() == 1) {
        // The count alone orders nothing. Who lets go of a copy comes after all that others did before they let go.
        BranchRef(above).reset();
        auto next = std::move(above->parent);
        above = std::move(next);
    }
}

Result<> lend_permissions(Branch& branch, sys::Folder& folder, std::uint32_t user) {
    auto& status = branch.status(TreeSide::target);
    const auto lacking = while_filled & ~status.permissions;
    if (user == 0 || status.user != user || lacking == 0) return {};
    FB_TRY(folder.set_permissions(status.permissions | lacking));
    branch.seen.lent_permissions |= lacking;
    status.permissions |= lacking;
    return {};
}

Result<> take_back_lent(Branch& branch, sys::Folder& folder) {
    const auto lent = std::exchange(branch.seen.lent_permissions, 0);
    if (lent == 0) return {};
    auto& permissions = branch.status(TreeSide::target).permissions;
    permissions &= ~lent;
    return folder.set_permissions(permissions);
}

std::string path_of(const Branch& branch) {
    std::vector<const std::string*> names;
    for (const auto* at = &branch; at->parent; at = at->parent.get()) names.push_back(&at->name);
    std::string path;
    for (auto name = names.rbegin(); name != names.rend(); ++name) path += (path.empty() ? "" : "/") + **name;
    return path.empty() ? "." : path;
}

std::string path_of(const Branch& branch, const std::string& name) {
    return branch.parent ? path_of(branch) + "/" + name : name;
}

Result<FolderRef> OpenFolders::get(const BranchRef& branch, TreeSide side) {
    const auto index = static_cast<std::size_t>(side);
    std::vector<BranchRef> closed;
    FolderRef folder;
    {
        const std::lock_guard lock(mutex_);
        for (auto at = branch; at && !folder; at = at->parent) {
            folder = at->handles_[index].folder;
            if (folder) at->handles_[index].was_used = true;
            else closed.push_back(at);
        }
    }
    if (!folder) return Error{ErrorKind::broken, "the root of a tree is not open"};
    for (auto below = closed.rbegin(); below != closed.rend(); ++below) {
        FB_TRY_ASSIGN(opened, folder->open_folder((*below)->name));
        FB_TRY_ASSIGN(status, opened->status());
        if (status.id != (*below)->status(side).id) return moved(**below);
        folder = std::move(opened);
        keep(*below, side, folder);
    }
    return folder;
}

void OpenFolders::keep(const BranchRef& branch, TreeSide side, FolderRef folder) {
    const std::lock_guard lock(mutex_);
    auto& handle = branch->handles_[static_cast<std::size_t>(side)];
    handle.close();
    handle.folder = std::move(folder);
    handle.was_used = true;
    if (!branch->parent) return;  // the root stays
    auto& open = open_[static_cast<std::size_t>(side)];
    handle.open = open.count;
    ++*open.count;
    open.order.push_back(branch);
    drop_some(side);
}

Error OpenFolders::with_side(const BranchRef& branch, const std::string& name, const Error& error) {
    const auto& above = name.empty() ? branch->parent : branch;
    if (error.kind != ErrorKind::missing || !above) return error;
    const auto folder = get(above, TreeSide::source);
    if (!folder || !(*folder)->status_of(name.empty() ? branch->name : name)) return error;
    return {ErrorKind::broken, std::string(at_target) + ", something is gone meanwhile: " + error.what};
}

void OpenFolders::close(Branch& branch) {
    if (!branch.parent) return;
    const std::lock_guard lock(mutex_);
    for (auto& handle : branch.handles_) handle.close();
}

void OpenFolders::drop_some(TreeSide side) {
    const auto index = static_cast<std::size_t>(side);
    auto& [order, count] = open_[index];
    for (auto turns = 2 * order.size(); *count > open_max && turns > 0; --turns) {
        auto oldest = std::move(order.front());
        order.pop_front();
        const auto branch = oldest.lock();
        if (!branch) continue;
        auto& handle = branch->handles_[index];
        if (!handle.folder) continue;
        if (std::exchange(handle.was_used, false)) {
            order.push_back(std::move(oldest));
        } else {
            handle.close();
        }
    }
    if (order.size() > order_max)
        std::erase_if(order, [index](const std::weak_ptr<Branch>& held) {
            const auto branch = held.lock();
            return !branch || !branch->handles_[index].folder;
        });
}

}  // namespace forebay::tree
