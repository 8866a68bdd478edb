// Checks that a directory with removals still belongs to the tree: somebody may move it out meanwhile.

#include <chrono>

#include "core/sys/clock.hpp"
#include "transfer/remove/remove.hpp"

namespace forebay::tree {

namespace {

// Removals below a moved directory may continue this long before the move is noticed. A check costs a call for each of
// at most 64 parents.
constexpr std::chrono::nanoseconds unseen_max = std::chrono::milliseconds(10);
constexpr int seen_above_max = 64;

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(sys::Clock::now().time_since_epoch()).count();
}

}  // namespace

void DirNodeSeen::see() {
    at_ns = now_ns();
    removed_since = 0;
}

// A user may have moved the directory or one of its parents out of the tree, with all that is left below.
bool TreeRemover::is_in_place(const DirNodeRef& dir_node, const sys::Folder& folder) {
    const bool has_keys = folder.removed_at_once() > 1;  // keys of a bucket, which nobody can move
    if (shared_.is_dry || has_keys) return true;
    const auto now = now_ns();
    int above = 0;
    for (auto at = dir_node; at->parent && above <= seen_above_max; at = at->parent, ++above) {
        const bool is_due = now - at->seen.in_place.at_ns > unseen_max.count() ||
                            (at == dir_node && at->seen.in_place.removed_since >= DirNodeSeen::removed_max);
        if (at->seen.in_place.has_gone || (is_due && !is_seen(at))) return false;
    }
    return true;
}

bool TreeRemover::is_seen(const DirNodeRef& dir_node) {
    const auto& id = dir_node->status(side_).id;
    const auto above = shared_.folders.get(dir_node->parent, side_);
    const auto there = above ? (*above)->status_of(dir_node->name) : Result<sys::EntryStatus>(above.error());
    if (there && there->id == id) {
        dir_node->seen.in_place.see();
        return true;
    }
    // Reported once, by the first thread that notices it.
    if (dir_node->seen.in_place.has_gone.exchange(true)) return false;
    const auto folder = shared_.folders.get(dir_node, side_);
    const auto status = folder ? (*folder)->status() : Result<sys::EntryStatus>(folder.error());
    const bool was_removed = status ? status->names == 0 : status.error().kind == ErrorKind::missing;
    if (there || there.error().kind == ErrorKind::missing) {
        if (!was_removed)
            report(path_of(*dir_node),
                   {ErrorKind::retry, "it was moved or replaced during the removal: its remaining entries stay"});
    } else {
        report(path_of(*dir_node), there.error());
    }
    return false;
}

}  // namespace forebay::tree
