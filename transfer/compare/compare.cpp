#include "transfer/compare/compare.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/compare/compare_walk.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/team/team_worker.hpp"
#include "transfer/walk/single_file.hpp"
#include "transfer/walk/unnamed.hpp"

namespace forebay::tree {

Result<DirNodeRef> CompareWalk::open_root(FolderRef source, FolderRef target) {
    const auto root = std::make_shared<DirNode>(nullptr, "");
    FB_TRY_ASSIGN(status, source->status());
    FB_TRY_ASSIGN(target_status, target->status());
    root->statuses = {status, target_status};
    device_ = status.id.device;
    folders_.keep(root, TreeSide::source, std::move(source));
    folders_.keep(root, TreeSide::target, std::move(target));
    return root;
}

Result<> CompareWalk::run(const DirNodeRef& root, bool is_first) {
    FB_TRY(share_.run([&](TreeWorker& worker) {
        if (is_first) enter(worker, root);
    }));
    const std::lock_guard lock(mutex_);
    return ended_;
}

TeamWork CompareWalk::work(const DirNodeRef& root) {
    return {.share = share_,
            .folders = folders_,
            .root = root,
            .enter = [this](TreeWorker& worker, const DirNodeRef& dir_node) { enter(worker, dir_node); },
            .batch = [this](TreeWorker& worker, const DirNodeRef& dir_node,
                            const NameBatch& batch) { compare_batch(worker, dir_node, batch); },
            .done = [this](const DirNodeRef& dir_node) { done_in(dir_node); },
            .counts = [this] { return team_counts_.own(); }};
}

void CompareWalk::settle(const TeamMessage& message) {
    if (message.kind == TeamKind::log_entry) return add_log_entry(message, entry_log_);
    if (message.kind == TeamKind::name_pair) {
        const auto difference = difference_of_names(message.id, message.other_id, 0);
        if (difference && !difference->empty()) entry_log_.add(EntryEvent::differs, message.path, *difference);
    } else if (message.kind == TeamKind::counts || message.kind == TeamKind::bye) {
        team_counts_.take(message);
        tick();
    }
}

void CompareWalk::differs(const DirNodeRef& dir_node, const std::string& name, const std::string& why) {
    entry_log_.add(EntryEvent::differs, name.empty() ? path_of(*dir_node) : path_of(*dir_node, name), why);
}

Result<FolderRef> CompareWalk::open(const DirNodeRef& dir_node, TreeSide side) {
    if (!dir_node->parent) return folders_.get(dir_node, side);
    FB_TRY_ASSIGN(above, folders_.get(dir_node->parent, side));
    FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
    FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(side) = status;
    folders_.keep(dir_node, side, folder);
    return folder;
}

void CompareWalk::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (auto entered = try_enter(worker, dir_node); !entered)
        entry_log_.add_error(path_of(*dir_node), folders_.with_side(dir_node, "", entered.error()));
    done_in(dir_node);
}

Result<> CompareWalk::try_enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(source, open(dir_node, TreeSide::source));
    FB_TRY_ASSIGN(target, open(dir_node, TreeSide::target));
    FB_TRY(check_no_loop(*dir_node));
    if (options_.one_file_system && is_other_file_system(dir_node->status(TreeSide::source), device_)) {
        entry_log_.add(EntryEvent::skipped, path_of(*dir_node), "another file system is mounted there");
        // finish() still compares the metadata of the mount point.
        dir_node->was_entered = true;
        return {};
    }
    {
        // Names that fit into memory are merged. Others are looked up one by one.
        HeldNames held(held_bytes_, options_.tables.name_bytes);
        NameBatch first, other;
        FB_TRY_ASSIGN(holds_source, hold_names(*dir_node, TreeSide::source, *source, held, first));
        auto holds_all = holds_source;
        if (holds_all) {
            FB_TRY_ASSIGN(holds_target, hold_names(*dir_node, TreeSide::target, *target, held, other));
            holds_all = holds_target;
        }
        if (holds_all) {
            dir_node->was_entered = true;
            compare_names(worker, dir_node, std::move(first), std::move(other));
            return {};
        }
    }
    FB_TRY(compare_by_name(worker, dir_node, *source, *target));
    dir_node->was_entered = true;
    return {};
}

// Returns false if there are too many names.
Result<bool> CompareWalk::hold_names(const DirNode& dir_node, TreeSide side, sys::Folder& folder, HeldNames& held,
                                     NameBatch& names) {
    bool has_room = true;
    const auto listed = folder.list([&](std::span<const sys::NamedEntry> batch) -> Result<> {
        has_room = held.add(batch);
        if (!has_room) return Error{ErrorKind::retry, "its directory has more names than fit in memory"};
        for (const auto& entry : batch)
            names.push_back({.name = std::string(entry.name), .kind = entry.kind, .number = entry.number});
        return {};
    });
    if (has_room) FB_TRY(settle_listing(dir_node, side, folder, listed));
    return has_room;
}

// Reports things without an entry name. The comparison of the directory goes on.
Result<> CompareWalk::settle_listing(const DirNode& dir_node, TreeSide side, sys::Folder& folder,
                                     const Result<>& listed) {
    if (listed || listed.error().kind != ErrorKind::unsupported) return listed;
    report_unlisted(dir_node, folder, listed.error(), [&](const std::string& path, const Error& error) {
        entry_log_.add(EntryEvent::failed, path,
                       side == TreeSide::source ? error.what : std::string(at_target) + ": " + error.what);
    });
    return {};
}

void CompareWalk::only(EntryEvent kind, const DirNode& dir_node, const std::string& name, sys::EntryKind of) {
    if (options_.filter.takes(dir_node, name, of)) entry_log_.add(kind, path_of(dir_node, name), "");
}

// First pass: compares the source's entries or reports them as missing. Second pass: only looks up the target's names.
Result<> CompareWalk::compare_by_name(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& source,
                                      sys::Folder& target) {
    const auto done = [this](const DirNodeRef& of) { done_in(of); };
    FB_TRY(settle_listing(*dir_node, TreeSide::source, source,
                          list_in_batches(
                              worker, dir_node, source,
                              [this](TreeWorker& other, const DirNodeRef& of, const NameBatch& batch) {
                                  compare_batch(other, of, batch);
                              },
                              done)));
    return settle_listing(
        *dir_node, TreeSide::target, target,
        list_in_batches(
            worker, dir_node, target,
            [this](TreeWorker&, const DirNodeRef& of, const NameBatch& batch) { look_for_names(of, batch); }, done,
            false));
}

void CompareWalk::look_for_names(const DirNodeRef& dir_node, const NameBatch& batch) {
    const auto source = folders_.get(dir_node, TreeSide::source);
    if (!source) return entry_log_.add_error(path_of(*dir_node), source.error());
    for (const auto& named : batch) {
        if (share_.is_stopped()) return;
        const auto status = (*source)->status_of(named.name);
        if (status) continue;
        if (status.error().kind == ErrorKind::missing)
            only(EntryEvent::extra_in_target, *dir_node, named.name, named.kind);
        else entry_log_.add_error(path_of(*dir_node, named.name), status.error());
    }
}

void CompareWalk::compare_names(TreeWorker& worker, const DirNodeRef& dir_node, NameBatch first, NameBatch other) {
    std::ranges::sort(first, {}, &ListedName::name);
    std::ranges::sort(other, {}, &ListedName::name);
    NameBatch batch;
    auto at = first.begin(), other_at = other.begin();
    const auto alone = [&](const ListedName& named, EntryEvent kind) {
        only(kind, *dir_node, named.name, named.kind);
        const bool is_wanted = kind == EntryEvent::missing_in_target && named.kind != sys::EntryKind::folder &&
                               options_.filter.takes(*dir_node, named.name, named.kind);
        if (is_wanted) note_wanted(dir_node.get());
    };
    while (at != first.end() || other_at != other.end()) {
        if (other_at == other.end() || (at != first.end() && at->name < other_at->name)) {
            alone(*at++, EntryEvent::missing_in_target);
        } else if (at == first.end() || other_at->name < at->name) {
            alone(*other_at++, EntryEvent::extra_in_target);
        } else {
            if (batch.size() == batch_names(share_))
                hand_over(
                    worker, dir_node, batch,
                    [this](TreeWorker& helper, const DirNodeRef& of, const NameBatch& names) {
                        compare_batch(helper, of, names);
                    },
                    [this](const DirNodeRef& of) { done_in(of); });
            at->other_kind = other_at++->kind;
            batch.push_back(std::move(*at++));
        }
    }
    compare_batch(worker, dir_node, batch);
}

void CompareWalk::compare_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch) {
    BothFolders folders;
    const auto opened = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, folders_.get(dir_node, TreeSide::source));
        FB_TRY_ASSIGN(target, folders_.get(dir_node, TreeSide::target));
        folders = {source, target};
        return {};
    }();
    if (!opened) return entry_log_.add_error(path_of(*dir_node), opened.error());
    for (const auto& named : batch) {
        if (share_.is_stopped()) return;
        if (auto compared = compare_entry(worker, dir_node, folders, named); !compared)
            entry_log_.add_error(path_of(*dir_node, named.name),
                                 folders_.with_side(dir_node, named.name, compared.error()));
        ++counts_.entries;
        tick();
    }
}

// With include patterns, a copy does not touch a directory without a matching entry.
void CompareWalk::finish(const DirNodeRef& dir_node) {
    if (!dir_node->was_entered || share_.is_stopped()) return;
    if (!options_.filter.include.empty() && !dir_node->holds_wanted) return;
    const auto difference = folder_difference(dir_node);
    if (!difference) entry_log_.add_error(path_of(*dir_node), folders_.with_side(dir_node, "", difference.error()));
    else if (!difference->empty()) differs(dir_node, "", *difference);
}

void CompareWalk::done_in(DirNodeRef dir_node) {
    const bool is_all = count_done(std::move(dir_node), folders_, [this](const DirNodeRef& done) { finish(done); });
    if (is_all && team_ != nullptr) team_->root_done();
}

void CompareWalk::tick() {
    if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
}

Result<> compare_trees(const std::string& source, const std::string& target, const CompareOptions& options,
                       EntryLog& entry_log, CompareCounts& counts) {
    FB_TRY_ASSIGN(roots, open_compared(source, target));
    auto& [first, other] = roots;
    auto* lead = options.lead;
    if (lead == nullptr) return compare_open_trees(std::move(first), std::move(other), options, entry_log, counts);
    FB_TRY_ASSIGN(source_root, team_root(*first, source));
    FB_TRY_ASSIGN(target_root, team_root(*other, target));
    FB_TRY(lead->begin({.verb = TeamVerb::compare,
                        .threads = team_threads({source, target}, options.threads),
                        .source = team_place(source),
                        .target = team_place(target),
                        .source_root = source_root,
                        .target_root = target_root,
                        .options = {.filter = options.filter,
                                    .preserve = options.preserve,
                                    .one_file_system = options.one_file_system,
                                    .recalls = options.recalls},
                        .reads_bytes = options.reads_bytes}));
    CompareWalk walk(options, entry_log, counts, &lead->team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(first), std::move(other)));
    FB_TRY(lead->start(walk.work(root), [&](const TeamMessage& message) { walk.settle(message); }));
    const auto compared = walk.run(root, true);
    lead->finish(!compared);
    FB_TRY(compared);
    return entry_log.taken();
}

Result<> compare_open_trees(FolderRef source, FolderRef target, const CompareOptions& options, EntryLog& entry_log,
                            CompareCounts& counts) {
    CompareWalk walk(options, entry_log, counts, nullptr);
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), std::move(target)));
    FB_TRY(walk.run(root, true));
    return entry_log.taken();
}

Result<> compare_for_team(TeamPort& port, const TeamOrder& order) {
    EntryLog entry_log(log_to_first(port));
    CompareCounts counts;
    const CompareOptions options{.threads = static_cast<std::uint32_t>(order.threads),
                                 .filter = order.options.filter,
                                 .preserve = order.options.preserve,
                                 .reads_bytes = order.reads_bytes,
                                 .recalls = order.options.recalls,
                                 .one_file_system = order.options.one_file_system};
    FB_TRY_ASSIGN(source, sys::open_tree(order.source));
    FB_TRY(check_team_root(*source, order.source_root, order.source));
    FB_TRY_ASSIGN(target, sys::open_tree(order.target));
    FB_TRY(check_team_root(*target, order.target_root, order.target));
    TeamLease lease{std::chrono::seconds(order.timeout_seconds)};
    TeamMembership membership(port, order, lease);
    CompareWalk walk(options, entry_log, counts, &membership.team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), std::move(target)));
    FB_TRY(membership.start(walk.work(root)));
    return membership.leave(walk.run(root, false));
}

}  // namespace forebay::tree
