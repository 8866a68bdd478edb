#include "transfer/copy/naming.hpp"

#include <utility>

#include "core/base/try.hpp"

namespace forebay::tree {

Result<> Naming::begin(FolderRef root) {
    FB_TRY_ASSIGN(about, root->file_system());
    if (about.is_read_only)
        return Error{ErrorKind::refused, "TARGET's file system is mounted read-only here", "nothing was changed",
                     "choose another TARGET, or mount it for writing"};
    if (!use_.options.is_dry && use_.options.syncs && about.outlives_power) root_ = std::move(root);
    return {};
}

Result<> Naming::run(const std::function<void(TreeWorker&)>& first) {
    FB_TRY(use_.share.run(first));
    // Naming an entry may add work, such as hard links, and that work may wait for names again.
    while (has_waiting()) {
        if (use_.share.is_stopped()) {
            TreeWorker worker{.share = &use_.share};
            flush(worker);
        } else {
            FB_TRY(use_.share.run([this](TreeWorker& worker) { flush(worker); }));
        }
    }
    return {};
}

Result<CopyStep> Naming::name(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                              TemporaryName& temporary) {
    if (!root_)
        return use_.publisher.publish(temporary, {entry.dir_node, entry.name}, *entry.target, EntryEvent::copied);
    temporary.leave();
    ++entry.dir_node->pending;
    name_all(worker, add(entry, status));
    return CopyStep::later;
}

// Returns the batch if this entry fills it.
Naming::Batch Naming::add(const CopyEntry& entry, const sys::EntryStatus& status) {
    const std::lock_guard lock(mutex_);
    const auto now = sys::Clock::now();
    if (waiting_.entries.empty()) waiting_.oldest = now;
    const bool is_file = status.kind == sys::EntryKind::file;
    waiting_.entries.push_back({.place = {entry.dir_node, entry.name},
                                .id = entry.inode,
                                .has_other_names = entry.inode != sys::EntryId{},
                                .is_large = is_file && status.bytes >= large_file_bytes});
    waiting_.bytes += is_file ? status.bytes : 0;
    waiting_.dir_nodes += entry.dir_node->depth;
    const auto& limits = use_.options.naming;
    const bool has_room = waiting_.entries.size() < limits.entries && waiting_.bytes < limits.bytes &&
                          waiting_.dir_nodes < limits.dir_nodes;
    return has_room && now - waiting_.oldest < limits.age ? Batch() : std::exchange(waiting_, {});
}

void Naming::flush(TreeWorker& worker) {
    Batch batch;
    {
        const std::lock_guard lock(mutex_);
        batch = std::exchange(waiting_, {});
    }
    name_all(worker, batch);
}

bool Naming::has_waiting() const {
    const std::lock_guard lock(mutex_);
    return !waiting_.entries.empty();
}

void Naming::flush_idle() {
    constexpr std::chrono::milliseconds just_begun{50};
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.entries.empty() || sys::Clock::now() - waiting_.oldest < just_begun) return;
    }
    use_.share.add_from_outside([this](TreeWorker& worker) { flush(worker); });
}

void Naming::name_all(TreeWorker& worker, const Batch& batch) {
    if (batch.entries.empty()) return;
    // One sync for the whole batch: a final name is only given to durable bytes.
    const auto synced = root_->sync_file_system();
    for (const auto& whole : batch.entries) {
        name_whole(worker, whole, synced);
        use_.flow.tick();
    }
}

// A failed sync does not show which file failed: no entry of the batch gets its name.
void Naming::name_whole(TreeWorker& worker, const Whole& whole, const Result<>& synced) {
    const auto& dir_node = whole.place.dir_node;
    const auto named = [&]() -> Result<CopyStep> {
        FB_TRY_ASSIGN(folder, use_.folders.get(dir_node, TreeSide::target));
        TemporaryName temporary(*folder, use_.names.name_for(whole.place.name));
        if (whole.is_large) static_cast<void>(folder->remove(parts_name(temporary.name())));
        FB_TRY(synced);
        return use_.publisher.publish(temporary, whole.place, *folder, EntryEvent::copied);
    }();
    if (!named) use_.failures.report(dir_node, whole.place.name, named.error());
    if (whole.has_other_names && named && *named == CopyStep::done)
        use_.inode_ends.named(worker, whole.id, whole.place);
    else if (whole.has_other_names) use_.inode_ends.failed(worker, whole.id);
    use_.dir_node_ends.done_in(dir_node);
}

}  // namespace forebay::tree
