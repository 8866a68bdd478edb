#include "transfer/copy/naming.hpp"

#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry.hpp"
#include "transfer/copy/large_file.hpp"

namespace forebay::tree {

Result<> Naming::begin(FolderRef root) {
    FB_TRY_ASSIGN(about, root->file_system());
    if (about.is_read_only)
        return Error{ErrorKind::refused, "TARGET lies on a file system that is mounted read-only here",
                     "nothing was changed", "another TARGET, or mount it to be written"};
    if (!context_.options.is_dry && context_.options.syncs && about.outlives_power) root_ = std::move(root);
    return {};
}

Result<> Naming::run(const std::function<void(TreeWorker&)>& first) {
    FB_TRY(context_.share.run(first));
    while (has_waiting()) {
        if (context_.share.is_stopped()) {
            TreeWorker worker{.share = &context_.share};
            flush(worker);
        } else {
            FB_TRY(context_.share.run([this](TreeWorker& worker) { flush(worker); }));
        }
    }
    return {};
}

Result<bool> Naming::name(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                          TemporaryName& temporary) {
    if (root_) {
        temporary.leave();
        ++entry.branch->pending;
        name_all(worker, add(entry, status));
        return false;
    }
    FB_TRY(context_.publish(temporary, {entry.branch, entry.name}, *entry.target, RemarkKind::copied));
    return true;
}

// The batch, where this entry makes it full.
Naming::Batch Naming::add(const CopyEntry& entry, const sys::EntryStatus& status) {
    const std::lock_guard lock(mutex_);
    const auto now = sys::Clock::now();
    if (waiting_.empty()) oldest_ = now;
    const bool is_file = status.kind == sys::EntryKind::file;
    waiting_.push_back({.place = {entry.branch, entry.name},
                        .id = entry.inode,
                        .has_other_names = entry.inode != sys::EntryId{},
                        .is_large = is_file && status.bytes >= large_file_bytes});
    waiting_bytes_ += is_file ? status.bytes : 0;
    waiting_branches_ += entry.branch->depth;
    const bool has_room =
        waiting_.size() < limits_.entries && waiting_bytes_ < limits_.bytes && waiting_branches_ < limits_.branches;
    return has_room && now - oldest_ < limits_.age ? Batch() : take_waiting();
}

Naming::Batch Naming::take_waiting() {
    waiting_bytes_ = waiting_branches_ = 0;
    return std::exchange(waiting_, {});
}

void Naming::flush(TreeWorker& worker) {
    Batch batch;
    {
        const std::lock_guard lock(mutex_);
        batch = take_waiting();
    }
    name_all(worker, batch);
}

bool Naming::has_waiting() const {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
}

void Naming::flush_idle() {
    constexpr std::chrono::milliseconds just_begun{50};
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty() || sys::Clock::now() - oldest_ < just_begun) return;
    }
    context_.share.add_from_outside([this](TreeWorker& worker) { flush(worker); });
}

void Naming::name_all(TreeWorker& worker, const Batch& batch) {
    if (batch.empty()) return;
    const auto synced = root_->sync_file_system();
    for (const auto& whole : batch) {
        name_whole(worker, whole, synced);
        context_.tick();
    }
}

// A sync that fails does not say of which file: none of the batch may get its name.
void Naming::name_whole(TreeWorker& worker, const Whole& whole, const Result<>& synced) {
    const auto& branch = whole.place.branch;
    const auto& name = whole.place.name;
    const auto named = [&]() -> Result<> {
        FB_TRY_ASSIGN(folder, context_.folders.get(branch, TreeSide::target));
        TemporaryName temporary(*folder, context_.temporary_name(name));
        if (whole.is_large) static_cast<void>(folder->remove(parts_name(temporary.name())));
        FB_TRY(synced);
        return context_.publish(temporary, whole.place, *folder, RemarkKind::copied);
    }();
    if (!named) context_.report(branch, name, named.error());
    if (whole.has_other_names) {
        EntryCopier copier(context_, worker);
        if (named) copier.link_waiting(whole.id, whole.place);
        else copier.give_up_waiting(whole.id);
    }
    context_.done_in(branch);
}

}  // namespace forebay::tree
