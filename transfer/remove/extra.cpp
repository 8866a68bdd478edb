#include "transfer/remove/extra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "transfer/copy/case_fold_names.hpp"
#include "transfer/remove/remove.hpp"
#include "transfer/walk/name_batch.hpp"

namespace forebay::tree {

std::vector<sys::EntryId> ids_of_source(const sys::EntryId& root, const std::vector<sys::MountBelow>& mounts) {
    std::vector<sys::EntryId> ids{root};
    for (const auto& mount : mounts) ids.push_back(mount.id);
    return ids;
}

std::string too_many_removed(const TreeCopyOptions& options, std::uint64_t entries, const EntryLog& counted) {
    if (counted.has_errors() && options.removed_max != UINT64_MAX) {
        const auto first = counted.first();
        const auto error = std::ranges::find_if(first, is_error, &LogEntry::kind);
        return fmt::format("the entries to remove cannot be counted, as --max-delete requires: {}",
                           error == first.end() ? "" : show_text(error->path) + ": " + error->why);
    }
    if (entries <= options.removed_max) return "";
    return fmt::format("{} would be removed, more than the {} of --max-delete", show_count(entries, "entry"),
                       options.removed_max);
}

namespace {

struct Extra {
    DirNodeRef dir_node;
    std::vector<std::string> folders, others;
};

class SourceNames;

class ExtraWalk {
public:
    ExtraWalk(const sys::EntryId& source, const SourceAtBegin& at_begin, const TreeCopyOptions& options,
              EntryLog& entry_log, CopyCounts& counts)
        : at_begin_(at_begin),
          options_(options),
          entry_log_(entry_log),
          remover_({.folders = folders_,
                    .entry_log = entry_log,
                    .removed = counts.removed,
                    .tick = {},
                    .finish_other = [this](const DirNodeRef& dir_node) { finish(dir_node); },
                    .is_dry = options.is_dry,
                    .would_remove = &counts.would_remove,
                    .protected_entries = ids_of_source(source, at_begin.mounts),
                    .filter = &options.filter,
                    .lends_to = sys::new_entry_owner().user},
                   TreeSide::target) {}

    Result<> run(const FolderRef& source, const FolderRef& target);

private:
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> open(const DirNodeRef& dir_node, TreeSide side, FolderRef& folder);
    Result<> compare(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target);
    using Names = std::vector<std::string>;
    Result<> spare_case_fold_names(const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target,
                                   std::initializer_list<Names*> extra);
    Result<> take(TreeWorker& worker, Extra extra);
    void remove(TreeWorker& worker, const Extra& extra);
    Result<> check_copied(const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target,
                          const SourceNames& names);
    void finish(const DirNodeRef& dir_node);
    Result<> check_mount(const DirNode& dir_node) const;
    bool is_snapshot(const DirNode& dir_node, const std::string& name) const;
    bool is_unchanged(const DirNode& dir_node, const sys::EntryStatus& source) const;

    const SourceAtBegin& at_begin_;
    const TreeCopyOptions& options_;
    EntryLog& entry_log_;
    OpenFolders folders_;
    TreeRemover remover_;
    bool names_change_times_ = true;  // in the source's directories
    std::atomic<std::uint64_t> held_bytes_{0};
    std::atomic<bool> has_changed_{false};  // the source changed since it was copied
    std::mutex mutex_;                      // guards the members below
    std::vector<Extra> held_;               // until all directories were compared
    std::size_t held_names_ = 0;
};

// The names of a source directory: in memory, or looked up one by one if there are too many.
class SourceNames {
public:
    SourceNames(sys::Folder& folder, std::atomic<std::uint64_t>& all_bytes, std::uint64_t bytes_max)
        : folder_(folder), held_(std::in_place, all_bytes, bytes_max) {}

    Result<> read() {
        FB_TRY(folder_.list([&](std::span<const sys::NamedEntry> names) -> sys::TakerAnswer {
            has_all_ = held_->add(names);
            if (!has_all_) return sys::TakerAnswer::enough();
            for (const auto& entry : names) names_.emplace(entry.name, false);
            return {};
        }));
        if (has_all_) return {};
        names_.clear();
        held_.reset();
        return {};
    }

    Result<bool> has(const std::string& name) {
        if (has_all_) {
            const auto match = names_.find(name);
            if (match != names_.end()) match->second = true;
            return match != names_.end();
        }
        const auto status = folder_.status_of(name);
        if (!status && status.error().kind != ErrorKind::missing) return status.error();
        return status.has_value();
    }

    /// Held names for which has() was not called.
    std::vector<std::string> others() const {
        std::vector<std::string> others;
        for (const auto& [name, was_asked_for] : names_)
            if (!was_asked_for) others.push_back(name);
        return others;
    }

private:
    sys::Folder& folder_;
    std::optional<HeldNames> held_;
    bool has_all_ = true;
    std::unordered_map<std::string, bool> names_;  // true after has()
};

Result<> ExtraWalk::run(const FolderRef& source, const FolderRef& target) {
    const auto root = std::make_shared<DirNode>(nullptr, "");
    FB_TRY_ASSIGN(status, source->status());
    FB_TRY_ASSIGN(target_status, target->status());
    FB_TRY_ASSIGN(about_source, source->file_system());
    names_change_times_ = about_source.names_change_times;
    root->status(TreeSide::source) = status;
    root->status(TreeSide::target) = target_status;
    folders_.keep(root, TreeSide::source, source);
    folders_.keep(root, TreeSide::target, target);
    WorkShare share(options_.threads);
    FB_TRY(share.run([&](TreeWorker& worker) { enter(worker, root); }));
    return share.run([&](TreeWorker& worker) {
        for (const auto& extra : held_) share.add(worker, [this, &extra](TreeWorker& other) { remove(other, extra); });
    });
}

void ExtraWalk::remove(TreeWorker& worker, const Extra& extra) {
    const auto& dir_node = extra.dir_node;
    const auto removed = [&]() -> Result<> {
        // After a change anywhere, an entry may have moved to a directory that was compared before.
        if (has_changed_ || !entry_log_.taken()) return {};
        if (!options_.is_dry && dir_node->status(TreeSide::source).has_times) {
            FB_TRY_ASSIGN(source, folders_.get(dir_node, TreeSide::source));
            FB_TRY_ASSIGN(now, source->status());
            if (!is_unchanged(*dir_node, now)) {
                entry_log_.add(
                    EntryEvent::changed, path_of(*dir_node),
                    "this directory changed during the copy, so nothing that only the target has was removed in it");
                return {};
            }
        }
        FB_TRY_ASSIGN(target, folders_.get(dir_node, TreeSide::target));
        if (!remover_.is_in_place(dir_node, *target)) return {};
        FB_TRY(remover_.lend(*dir_node, *target));
        dir_node->was_changed = true;
        for (const auto& name : extra.folders) remover_.add_folder(worker, dir_node, name);
        remover_.remove_entries(dir_node, *target, extra.others);
        worker.share->relieve(worker);
        return {};
    }();
    if (!removed) entry_log_.add_error(path_of(*dir_node), removed.error());
    remover_.done_in(dir_node);
}

bool is_mounted_at_target_alone(const DirNode& dir_node) {
    for (const auto* at = &dir_node; at->parent; at = at->parent.get()) {
        const auto is_mount = [&](TreeSide side) {
            return is_other_file_system(at->status(side), at->parent->status(side).id.device);
        };
        if (is_mount(TreeSide::target) && !is_mount(TreeSide::source)) return true;
    }
    return false;
}

// Held until all directories were compared, as far as memory allows: a rename in the source is noticed before the
// removal.
Result<> ExtraWalk::take(TreeWorker& worker, Extra extra) {
    const auto names = extra.folders.size() + extra.others.size();
    if (names == 0) return {};
    if (is_mounted_at_target_alone(*extra.dir_node))
        return Error{ErrorKind::refused, "only the target has this mount: nothing in it is removed"};
    ++extra.dir_node->pending;
    {
        const std::lock_guard lock(mutex_);
        if (held_names_ + names <= options_.tables.deferred) {
            held_names_ += names;
            held_.push_back(std::move(extra));
            return {};
        }
    }
    remove(worker, extra);
    return {};
}

Result<> ExtraWalk::open(const DirNodeRef& dir_node, TreeSide side, FolderRef& folder) {
    if (dir_node->parent) {
        FB_TRY_ASSIGN(above, folders_.get(dir_node->parent, side));
        FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
        folder = std::move(opened);
        FB_TRY_ASSIGN(status, folder->status());
        dir_node->status(side) = status;
        FB_TRY(side == TreeSide::source ? check_mount(*dir_node) : remover_.check_removable(status.id));
        folders_.keep(dir_node, side, folder);
    } else {
        FB_TRY_ASSIGN(root, folders_.get(dir_node, side));
        folder = root;
    }
    return {};
}

Result<> ExtraWalk::check_mount(const DirNode& dir_node) const {
    const auto& mounts = at_begin_.mounts;
    if (mounts.empty()) return {};
    const auto path = path_of(dir_node);
    const auto mount = std::ranges::lower_bound(mounts, path, {}, &sys::MountBelow::path);
    if (mount == mounts.end() || mount->path != path || mount->id == dir_node.status(TreeSide::source).id) return {};
    return Error{ErrorKind::refused, "a mount went away here: nothing in it is removed"};
}

// copy_run() removes snapshots of a run itself. A snapshot in a stream was committed meanwhile.
bool ExtraWalk::is_snapshot(const DirNode& dir_node, const std::string& name) const {
    const bool is_in_stream = dir_node.parent && !dir_node.parent->parent;
    return options_.is_run && is_in_stream && (name.starts_with("step-") || name.starts_with("line-"));
}

// True if no name was added to or removed from the source's directory since its copy: then no extra entry of the target
// moved within the source. The copy has set the mtime of the target's directory. A user can set the mtime back, but not
// the ctime. If both are equal, no time was set since.
bool ExtraWalk::is_unchanged(const DirNode& dir_node, const sys::EntryStatus& source) const {
    if (!source.has_times) return true;  // unknown
    const auto& copy = dir_node.status(TreeSide::target);
    const bool was_set = names_change_times_ && source.changed != source.modified;
    if (options_.preserve.times && copy.has_times && source.modified == copy.modified && !was_set) return true;
    auto settled = at_begin_.settled;
    if (source.changed.nanoseconds == 0) settled.nanoseconds = 0;  // a file system with whole seconds
    return source.changed < settled;
}

void ExtraWalk::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    const auto compared = [&]() -> Result<> {
        FolderRef source, target;
        FB_TRY(open(dir_node, TreeSide::source, source));
        FB_TRY(open(dir_node, TreeSide::target, target));
        return compare(worker, dir_node, *source, *target);
    }();
    if (!compared) entry_log_.add_error(path_of(*dir_node), compared.error());
    remover_.done_in(dir_node);
}

Result<> ExtraWalk::compare(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target) {
    SourceNames source_names(source, held_bytes_, options_.tables.name_bytes);
    FB_TRY(source_names.read());
    const bool crosses =
        dir_node->parent && options_.one_file_system &&
        is_other_file_system(dir_node->status(TreeSide::source), dir_node->parent->status(TreeSide::source).id.device);
    if (crosses) return {};  // the mount was not copied
    FB_TRY(target.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        std::vector<std::string> extra, extra_folders;
        for (const auto& entry : names) {
            const std::string name(entry.name);
            auto kind = entry.kind;
            if (kind == sys::EntryKind::unknown && entry.may_be_folder) {
                FB_TRY_ASSIGN(status, target.status_of(name));
                kind = status.kind;
            }
            FB_TRY_ASSIGN(is_in_source, source_names.has(name));
            const bool is_folder = kind == sys::EntryKind::folder;
            if (!is_in_source) {
                if (!options_.filter.takes(*dir_node, name, kind)) continue;
                if (is_folder && is_snapshot(*dir_node, name)) continue;
                (is_folder ? extra_folders : extra).push_back(name);
            } else if (is_folder && options_.filter.takes(*dir_node, name, kind)) {
                // The source may have another kind of entry there: an excluded entry, or in a dry run an entry reported
                // before.
                if (options_.is_dry || !options_.filter.is_empty()) {
                    FB_TRY_ASSIGN(status, source.status_of(name));
                    const bool is_left_out = !options_.filter.takes(*dir_node, name, status.kind);
                    if (is_left_out) extra_folders.push_back(name);
                    if (is_left_out || status.kind != sys::EntryKind::folder) continue;
                }
                const auto child = std::make_shared<DirNode>(dir_node, name);
                ++dir_node->pending;
                worker.share->add(worker, [this, child](TreeWorker& other) { enter(other, child); });
            }
        }
        FB_TRY(spare_case_fold_names(dir_node, source, target, {&extra, &extra_folders}));
        FB_TRY(take(worker, {dir_node, std::move(extra_folders), std::move(extra)}));
        worker.share->relieve(worker);
        return {};
    }));
    return check_copied(dir_node, source, target, source_names);
}

// An entry that is new in the source may have been moved from another directory of it.
Result<> ExtraWalk::check_copied(const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target,
                                 const SourceNames& names) {
    if (options_.is_dry || is_unchanged(*dir_node, dir_node->status(TreeSide::source))) return {};
    for (const auto& name : names.others()) {
        const auto of_source = source.status_of(name);
        if (!of_source || !options_.filter.takes(*dir_node, name, of_source->kind)) continue;
        const auto of_target = target.status_of(name);
        if (of_target || of_target.error().kind != ErrorKind::missing) continue;
        has_changed_ = true;
        entry_log_.add(EntryEvent::changed, path_of(*dir_node, name),
                       "it came into the source during the copy, perhaps from another place: nothing more is removed");
    }
    return {};
}

// The target may store a name in another spelling. Then both spellings lead to one entry, which is not extra.
Result<> ExtraWalk::spare_case_fold_names(const DirNodeRef& dir_node, sys::Folder& source, sys::Folder& target,
                                          std::initializer_list<Names*> extra) {
    if (std::ranges::all_of(extra, &Names::empty) || CaseFoldNames::of(*dir_node, target) == nullptr) return {};
    std::unordered_multimap<std::string, std::string> by_keys;
    for (const auto* names : extra)
        for (const auto& name : *names) by_keys.emplace(key_of_name_fold(name), name);
    return source.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        for (const auto& entry : names) {
            const auto [begin, end] = by_keys.equal_range(key_of_name_fold(entry.name));
            for (auto at = begin; at != end; ++at) {
                const auto status = target.status_of(std::string(entry.name)), own = target.status_of(at->second);
                if (!status || !own || status->id != own->id) continue;
                entry_log_.add(EntryEvent::skipped, path_of(*dir_node, at->second),
                               "the target uses this name for " + show_text(entry.name) + " of the source");
                for (auto* protected_entries : extra) std::erase(*protected_entries, at->second);
            }
        }
        return {};
    });
}

// Restores the directory's times, because the removals changed them.
void ExtraWalk::finish(const DirNodeRef& dir_node) {
    if (!dir_node->was_changed || options_.is_dry || !options_.preserve.times) return;
    const auto& status = dir_node->status(TreeSide::source);
    if (!status.has_times) return;
    const auto folder = folders_.get(dir_node, TreeSide::target);
    const auto set = folder ? (*folder)->set_times(status.accessed, status.modified) : Result<>(folder.error());
    if (!set) entry_log_.add_error(path_of(*dir_node), set.error());
}

}  // namespace

Result<std::uint64_t> count_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                                  const TreeCopyOptions& options, EntryLog& counted) {
    FB_TRY_ASSIGN(status, source->status());
    auto dry = options;
    dry.is_dry = true;
    CopyCounts would;
    FB_TRY(ExtraWalk(status.id, at_begin, dry, counted, would).run(source, target));
    return would.would_remove.entries.load();
}

Result<> remove_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                      const TreeCopyOptions& options, EntryLog& entry_log, CopyCounts& counts) {
    if (options.removed_max != UINT64_MAX && !options.is_dry) {
        EntryLog unsaid;
        FB_TRY_ASSIGN(entries, count_extra(source, target, at_begin, options, unsaid));
        counts.not_removed = too_many_removed(options, counts.removed + entries, unsaid);
        if (!counts.not_removed.empty()) return {};
    }
    FB_TRY_ASSIGN(status, source->status());
    FB_TRY(ExtraWalk(status.id, at_begin, options, entry_log, counts).run(source, target));
    if (options.is_dry) counts.not_removed = too_many_removed(options, counts.would_remove.entries, entry_log);
    return {};
}

}  // namespace forebay::tree
