#include "transfer/remove/remove.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/team/coordinator.hpp"
#include "transfer/team/team_counts.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/team/team_worker.hpp"
#include "transfer/walk/named_root.hpp"
#include "transfer/walk/pulse.hpp"
#include "transfer/walk/unnamed.hpp"

namespace forebay::tree {

namespace {

// Names added meanwhile, and names that a listing skipped during removals, need another round.
constexpr int turns_max = 3;

}  // namespace

void TreeRemover::add_folder(TreeWorker& worker, const DirNodeRef& above, const std::string& name) {
    const auto dir_node = std::make_shared<DirNode>(above, name);
    ++above->pending;
    worker.share->add(worker, [this, dir_node](TreeWorker& other) { enter(other, dir_node); },
                      {.dir_node = above, .name = name});
}

void TreeRemover::remove_entries(const DirNodeRef& above, sys::Folder& folder, std::span<const std::string> names) {
    if (shared_.is_dry) {
        for (const auto& name : names) note(above, folder, name);
        return;
    }
    const auto on_removed = [&](const std::string& name, const Result<>& removed) {
        if (removed) count(*above, name);
        else report(path_of(*above, name), removed.error());
        if (shared_.tick) shared_.tick();
    };
    auto& since = above->seen.in_place.removed_since;
    while (!names.empty() && shared_.entry_log.taken()) {
        if (since >= DirNodeSeen::removed_max && !is_in_place(above, folder)) return;
        const auto next = names.first(std::min(names.size(), folder.removed_at_once()));
        folder.remove_each(next, on_removed);
        since += static_cast<std::uint32_t>(next.size());
        names = names.subspan(next.size());
    }
}

Result<> TreeRemover::lend(DirNode& dir_node, sys::Folder& folder) {
    if (shared_.is_dry) return {};
    const std::lock_guard lock(mutex_);
    return lend_permissions(dir_node, folder, shared_.lends_to);
}

void TreeRemover::take_back(const DirNodeRef& dir_node) {
    if (dir_node->seen.temporary_chmod == 0) return;
    const auto folder = shared_.folders.get(dir_node, side_);
    if (const auto taken = folder ? take_back_chmod(*dir_node, **folder) : folder.error(); !taken)
        report(path_of(*dir_node), taken.error());
}

// An entry that is gone already is no error.
void TreeRemover::report(std::string path, const Error& error) {
    if (error.kind == ErrorKind::missing) return;
    shared_.entry_log.add(EntryEvent::failed, std::move(path),
                          side_ == TreeSide::target ? of_target(error).what : error.what);
}

void TreeRemover::count(const DirNode& above, const std::string& name) {
    ++shared_.removed;
    if (shared_.entry_log.records(EntryEvent::removed))
        shared_.entry_log.add(EntryEvent::removed, path_of(above, name), "");
}

// For a dry run. If an inode has other names, its bytes may stay.
void TreeRemover::note(const DirNodeRef& above, sys::Folder& folder, const std::string& name) {
    shared_.entry_log.add(EntryEvent::would_remove, path_of(*above, name), "");
    if (shared_.would_remove == nullptr) return;
    const auto status = folder.status_of(name);
    const bool frees = status && status->kind == sys::EntryKind::file && status->names == 1;
    shared_.would_remove->add(frees ? status->bytes : 0);
    if (shared_.tick) shared_.tick();
}

void TreeRemover::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (!shared_.entry_log.taken()) return done_in(dir_node);
    if (auto entered = try_enter(worker, dir_node); !entered && entered.error().kind != ErrorKind::missing) {
        const auto folder = dir_node->was_entered ? shared_.folders.get(dir_node, side_) : entered.error();
        if (folder)
            report_unlisted(*dir_node, **folder, entered.error(),
                            [this](const std::string& path, const Error& error) { report(path, error); });
        else report(path_of(*dir_node), entered.error());
        // Its parents stay, too; that is reported once. In a group they partly belong to other processes.
        if (shared_.team == nullptr) keep_above(dir_node->parent);
    }
    done_in(dir_node);
}

Result<> TreeRemover::try_enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(above, shared_.folders.get(dir_node->parent, side_));
    FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
    const FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(side_) = status;
    if (is_other_file_system(status, dir_node->parent->status(side_).id.device))
        return Error{ErrorKind::refused, "another file system is mounted there"};
    // The directory may be the source itself, reached by another mount.
    FB_TRY(check_removable(status.id));
    shared_.folders.keep(dir_node, side_, folder);
    dir_node->was_entered = true;
    dir_node->seen.in_place.see();
    if (!is_in_place(dir_node, *folder)) return {};
    FB_TRY(lend(*dir_node, *folder));
    return remove_listed(worker, dir_node, *folder);
}

Result<> TreeRemover::check_removable(const sys::EntryId& folder) const {
    if (std::ranges::find(shared_.protected_entries, folder) == shared_.protected_entries.end()) return {};
    return Error{ErrorKind::refused, "the source, or a part of it, is mounted there"};
}

Result<> TreeRemover::remove_listed(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& folder) {
    return folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        std::vector<std::string> entries;
        for (const auto& entry : names) {
            std::string name(entry.name);
            auto kind = entry.kind;
            if (kind == sys::EntryKind::unknown && entry.may_be_folder) {
                FB_TRY_ASSIGN(status, folder.status_of(name));
                kind = status.kind;
            }
            if (!takes(dir_node, name, kind)) keep_above(dir_node);
            else if (kind == sys::EntryKind::folder) add_folder(worker, dir_node, name);
            else entries.push_back(std::move(name));
        }
        if (!worker.share->is_stopped()) remove_entries(dir_node, folder, entries);
        worker.share->relieve(worker);
        return {};
    });
}

bool TreeRemover::takes(const DirNodeRef& dir_node, const std::string& name, sys::EntryKind kind) const {
    return shared_.filter == nullptr || shared_.filter->takes(*dir_node, name, kind);
}

void TreeRemover::keep_above(const DirNodeRef& dir_node) {
    const std::lock_guard lock(mutex_);
    for (const auto* at = dir_node.get(); at != nullptr && at->was_entered && keeping_.insert(at).second;)
        at = at->parent.get();
}

void TreeRemover::finish(const DirNodeRef& dir_node) {
    if (!dir_node->was_entered) {
        if (shared_.finish_other) shared_.finish_other(dir_node);
        return take_back(dir_node);
    }
    bool is_kept = false;
    {
        const std::lock_guard lock(mutex_);
        is_kept = keeping_.erase(dir_node.get()) > 0;
    }
    if (is_kept) return take_back(dir_node);
    if (shared_.is_dry) {
        if (shared_.would_remove != nullptr) shared_.would_remove->add(0);
        return shared_.entry_log.add(EntryEvent::would_remove, path_of(*dir_node), "");
    }
    if (!shared_.entry_log.taken()) return take_back(dir_node);
    if (dir_node->seen.in_place.has_gone) return take_back(dir_node);
    const auto remove = [&]() -> Result<CopyStep> {
        FB_TRY_ASSIGN(above, shared_.folders.get(dir_node->parent, side_));
        if (!is_in_place(dir_node->parent, *above)) return CopyStep::reported;
        auto removed = above->remove_folder(dir_node->name);
        for (int turn = 1; !removed && removed.error().kind == ErrorKind::refused && turn < turns_max; ++turn) {
            FB_TRY_ASSIGN(folder, shared_.folders.get(dir_node, side_));
            FB_TRY(folder->list([&](std::span<const sys::NamedEntry> names) -> Result<> {
                std::vector<std::string> entries;
                for (const auto& entry : names)
                    if (entry.kind != sys::EntryKind::folder && takes(dir_node, std::string(entry.name), entry.kind))
                        entries.emplace_back(entry.name);
                // Entries that failed before were reported then.
                folder->remove_each(entries, [&](const std::string& name, const Result<>& done) {
                    if (done) count(*dir_node, name);
                });
                return {};
            }));
            removed = above->remove_folder(dir_node->name);
        }
        FB_TRY(removed);
        return CopyStep::done;
    }();
    if (remove && *remove == CopyStep::done) return count(*dir_node->parent, dir_node->name);
    take_back(dir_node);
    if (!remove) report(path_of(*dir_node), remove.error());
}

void TreeRemover::done_in(DirNodeRef dir_node) {
    const bool is_all =
        count_done(std::move(dir_node), shared_.folders, [this](const DirNodeRef& done) { finish(done); });
    if (is_all && shared_.team != nullptr) shared_.team->root_done();
}

Result<bool> holds_left_out(OpenFolders& folders, TreeSide side, const DirNodeRef& above, const std::string& name,
                            const EntryFilter& filter) {
    if (filter.is_empty()) return false;
    std::vector<DirNodeRef> waiting{std::make_shared<DirNode>(above, name)};
    while (!waiting.empty()) {
        const auto dir_node = std::move(waiting.back());
        waiting.pop_back();
        FB_TRY_ASSIGN(outer, folders.get(dir_node->parent, side));
        FB_TRY_ASSIGN(opened, outer->open_folder(dir_node->name));
        const FolderRef folder = std::move(opened);
        FB_TRY_ASSIGN(status, folder->status());
        dir_node->status(side) = status;
        folders.keep(dir_node, side, folder);
        bool holds = false;
        FB_TRY(folder->list([&](std::span<const sys::NamedEntry> names) -> Result<> {
            for (const auto& named : names) {
                std::string entry(named.name);
                auto kind = named.kind;
                if (kind == sys::EntryKind::unknown) {
                    FB_TRY_ASSIGN(looked, folder->status_of(entry));
                    kind = looked.kind;
                }
                if (!filter.takes(*dir_node, entry, kind)) holds = true;
                else if (kind == sys::EntryKind::folder)
                    waiting.push_back(std::make_shared<DirNode>(dir_node, std::move(entry)));
            }
            return {};
        }));
        if (holds) return true;
    }
    return false;
}

namespace {

/// A tree to remove, with its name: shared by a single process, a coordinator and a worker.
struct Removal {
    using Counted = std::vector<std::atomic<std::uint64_t>*>;
    Removal(const RemoveOptions& options, EntryLog& entry_log, std::atomic<std::uint64_t>& given_removed, Team* team);

    /// `above` is the directory that holds the tree.
    Result<> open_root(const FolderRef& above);
    TeamWork work();

    OpenFolders folders;
    WorkShare share;
    std::atomic<std::uint64_t>& removed;
    std::atomic<std::uint64_t> no_bytes{0};
    Amount own_would;
    Amount& would;
    TeamCounts counts;
    Pulse pulse;
    const std::function<void()> tick;
    TreeRemover remover;
    DirNodeRef root;
};

Removal::Removal(const RemoveOptions& options, EntryLog& entry_log, std::atomic<std::uint64_t>& given_removed,
                 Team* team)
    : share(options.threads),
      removed(given_removed),
      would(options.would_remove != nullptr ? *options.would_remove : own_would),
      counts(options.is_dry ? Counted{&would.entries, &would.bytes} : Counted{&given_removed, &no_bytes}),
      tick([this, watch = options.watch, is_dry = options.is_dry] {
          if (watch) pulse.beat([&] { watch(is_dry ? would.entries : removed); });
      }),
      remover({.folders = folders,
               .entry_log = entry_log,
               .removed = given_removed,
               .tick = tick,
               .is_dry = options.is_dry,
               .would_remove = &would,
               .team = team},
              TreeSide::source) {}

Result<> Removal::open_root(const FolderRef& above) {
    root = std::make_shared<DirNode>(nullptr, "");
    FB_TRY_ASSIGN(status, above->status());
    root->status(TreeSide::source) = status;
    folders.keep(root, TreeSide::source, above);
    return {};
}

TeamWork Removal::work() {
    return {.share = share,
            .folders = folders,
            .root = root,
            .on_target = false,
            .enter = [this](TreeWorker& worker, const DirNodeRef& dir_node) { remover.enter(worker, dir_node); },
            .done = [this](const DirNodeRef& dir_node) { remover.done_in(dir_node); },
            .counts = [this] { return counts.own(); }};
}

// An object of a bucket or a file of a container: no system command can remove it.
Result<> remove_one(sys::Folder& above, const std::string& name, const sys::EntryStatus& status,
                    const RemoveOptions& options, EntryLog& entry_log, std::atomic<std::uint64_t>& removed) {
    if (options.is_dry) {
        entry_log.add(EntryEvent::would_remove, name, "");
        if (options.would_remove != nullptr) options.would_remove->add(status.bytes);
        return entry_log.taken();
    }
    FB_TRY(above.remove(name));
    ++removed;
    return entry_log.taken();
}

}  // namespace

Result<> remove_tree(const std::string& path, const RemoveOptions& options, EntryLog& entry_log,
                     std::atomic<std::uint64_t>& removed) {
    FB_TRY_ASSIGN(named, open_above(path));
    const auto& [above, name] = named;
    FB_TRY_ASSIGN(status, above->status_of(name));
    if (status.kind != sys::EntryKind::folder && sys::is_far(path))
        return remove_one(*above, name, status, options, entry_log, removed);
    if (status.kind != sys::EntryKind::folder)
        return Error{ErrorKind::refused, fmt::format("{} is not a directory", show_text(path)), "", "rm"};
    FB_TRY_ASSIGN(above_status, above->status());
    if (is_other_file_system(status, above_status.id.device))
        return Error{ErrorKind::refused, fmt::format("{} is a mount point", show_text(path)), "",
                     "give the entries in it"};
    // An entry that vanishes below was removed by another process. But the tree itself must exist.
    const auto folder = above->open_folder(name);
    if (!folder && folder.error().kind == ErrorKind::missing) return folder.error();
    auto* lead = options.lead;
    if (lead != nullptr) {
        FB_TRY(folder);
        FB_TRY_ASSIGN(root, team_root(**folder, path));
        FB_TRY(lead->begin({.verb = TeamVerb::remove,
                            .threads = team_threads({path}, options.threads),
                            .source = team_place(path),
                            .source_root = root,
                            .options = {.is_dry = options.is_dry},
                            .recorded = entry_log.recorded()}));
    }
    Removal removal(options, entry_log, removed, lead != nullptr ? &lead->team() : nullptr);
    FB_TRY(removal.open_root(above));
    if (lead != nullptr)
        FB_TRY(lead->start(removal.work(), [&](const TeamMessage& message) {
            add_log_entry(message, entry_log);
            if (message.kind == TeamKind::counts || message.kind == TeamKind::bye) removal.counts.take(message);
            removal.tick();
            if (!entry_log.taken()) removal.share.stop();
        }));
    const auto done = removal.share.run([&](TreeWorker& worker) {
        removal.remover.add_folder(worker, removal.root, named.name);
        removal.remover.done_in(removal.root);
    });
    if (lead != nullptr) lead->finish(!done || removal.share.is_stopped());
    FB_TRY(done);
    return entry_log.taken();
}

Result<> remove_for_team(TeamPort& port, const TeamOrder& order) {
    EntryLog entry_log(log_to_first(port), order.recorded);
    std::atomic<std::uint64_t> removed{0};
    TeamLease lease{std::chrono::seconds(order.timeout_seconds)};
    FB_TRY_ASSIGN(named, open_above(order.source));
    named.above = within_lease(std::move(named.above), lease);
    FB_TRY_ASSIGN(folder, named.above->open_folder(named.name));
    FB_TRY(check_team_root(*folder, order.source_root, order.source));
    TeamMembership membership(port, order, lease);
    Removal removal({.threads = static_cast<std::uint32_t>(order.threads), .is_dry = order.options.is_dry}, entry_log,
                    removed, &membership.team());
    FB_TRY(removal.open_root(named.above));
    FB_TRY(membership.start(removal.work()));
    return membership.leave(removal.share.run([](TreeWorker&) {}));
}

}  // namespace forebay::tree
