#include "transfer/walk/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/compare/checksums.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/team/coordinator.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/team/team_worker.hpp"
#include "transfer/walk/name_batch.hpp"
#include "transfer/walk/pulse.hpp"
#include "transfer/walk/unnamed.hpp"
#include "transfer/walk/walk_found.hpp"

namespace forebay::tree {

namespace {

void raise(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
    auto known = highest.load(std::memory_order_relaxed);
    while (known < value && !highest.compare_exchange_weak(known, value, std::memory_order_relaxed)) continue;
}

class TreeWalk {
public:
    TreeWalk(const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts, Team* team)
        : options_(options),
          entry_log_(entry_log),
          counts_(counts),
          team_(team),
          share_(options.threads),
          stored_(options.recalls),
          names_left_(options.tables.inode_bytes) {}

    Result<DirNodeRef> open_root(FolderRef folder);
    /// A worker of a group processes only the work items that it gets.
    Result<> run(const DirNodeRef& root, bool is_first);
    TeamWork work(const DirNodeRef& root);
    void settle(const TeamMessage& message);

private:
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    /// For a directory whose name another process saw.
    void enter_given(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> list(TreeWorker& worker, const DirNodeRef& dir_node);
    void inspect_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch);
    Result<sys::EntryStatus> look_at(sys::Folder& folder, const ListedName& named) const;
    void count(const DirNodeRef& dir_node, const sys::EntryStatus& status, WalkFound& totals);
    /// Adds to the totals of the work item of `dir_node`. If no other process sent that item, adds to the counts.
    void add(const DirNodeRef& dir_node, const WalkFound& totals);
    bool is_first_name(const sys::EntryId& id, std::uint64_t names, std::uint64_t seen);
    void take(std::span<const WalkedEntry> entries);
    void take_sum(const FileSum& sum);
    void add_sum(TreeWorker& worker, const DirNode& dir_node, sys::Folder& folder, const std::string& name);
    void done_in(DirNodeRef dir_node);
    void tick();

    const WalkOptions& options_;
    EntryLog& entry_log_;
    WalkCounts& counts_;
    Team* team_;
    OpenFolders folders_;
    WorkShare share_;
    StoredLayouts stored_;
    std::uint64_t device_ = 0;
    Pulse pulse_;
    std::atomic<std::uint64_t> own_entries_{0}, own_bytes_{0};  // progress of this process
    std::mutex mutex_;                                          // guards the members below
    InodeMap<std::uint64_t> names_left_;
    std::map<const DirNode*, WalkFound> totals_;  // for work items from other processes
    Result<> taken_;
};

Result<DirNodeRef> TreeWalk::open_root(FolderRef folder) {
    const auto root = std::make_shared<DirNode>(nullptr, "");
    FB_TRY_ASSIGN(status, folder->status());
    root->status(TreeSide::source) = status;
    device_ = status.id.device;
    FB_TRY(take_wish(*root, options_.wished));
    folders_.keep(root, TreeSide::source, std::move(folder));
    return root;
}

Result<> TreeWalk::run(const DirNodeRef& root, bool is_first) {
    FB_TRY(share_.run([&](TreeWorker& worker) {
        if (!is_first) return;
        ++counts_.of_kind[static_cast<std::size_t>(sys::EntryKind::folder)];
        if (auto listed = list(worker, root); !listed) entry_log_.add_error(path_of(*root), listed.error());
        done_in(root);
    }));
    return taken_;
}

TeamWork TreeWalk::work(const DirNodeRef& root) {
    return {.share = share_,
            .folders = folders_,
            .root = root,
            .on_target = false,
            .enter = [this](TreeWorker& worker, const DirNodeRef& dir_node) { enter_given(worker, dir_node); },
            .batch = [this](TreeWorker& worker, const DirNodeRef& dir_node,
                            const NameBatch& batch) { inspect_batch(worker, dir_node, batch); },
            .done = [this](const DirNodeRef& dir_node) { done_in(dir_node); },
            .tell_found =
                [this](const DirNodeRef& part, TeamMessage& done) {
                    const std::lock_guard lock(mutex_);
                    auto& totals = totals_[part.get()];
                    totals.deepest = std::max(totals.deepest, counts_.deepest.load());
                    totals.write(done);
                    totals_.erase(part.get());
                },
            .take_found =
                [this](const DirNodeRef& dir_node, const TeamMessage& done) {
                    WalkFound totals;
                    if (totals.read(done)) add(dir_node, totals);
                },
            .counts =
                [this] {
                    return std::vector<std::uint64_t>{own_entries_, own_bytes_};
                }};
}

void TreeWalk::settle(const TeamMessage& message) {
    if (message.kind == TeamKind::log_entry) add_log_entry(message, entry_log_);
    else if (message.kind == TeamKind::listed && options_.take) take(walked_of(message));
    else if (message.kind == TeamKind::summed && options_.take_sum) take_sum(sum_from(message));
    else if (message.kind == TeamKind::counts) tick();
}

void TreeWalk::enter_given(TreeWorker& worker, const DirNodeRef& dir_node) {
    const auto looked = [&]() -> Result<> {
        FB_TRY_ASSIGN(above, folders_.get(dir_node->parent, TreeSide::source));
        FB_TRY_ASSIGN(status, above->status_of(dir_node->name));
        dir_node->status(TreeSide::source) = status;
        return {};
    }();
    if (looked) return enter(worker, dir_node);
    entry_log_.add_error(path_of(*dir_node), looked.error());
    done_in(dir_node);
}

void TreeWalk::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (auto entered = try_enter(worker, dir_node); !entered) entry_log_.add_error(path_of(*dir_node), entered.error());
    done_in(dir_node);
}

// The status was read when the name was seen. It is not read again.
Result<> TreeWalk::try_enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    const auto& status = dir_node->status(TreeSide::source);
    FB_TRY(check_no_loop(*dir_node));
    std::uint64_t depth = 0;
    for (const auto* at = dir_node->parent.get(); at != nullptr; at = at->parent.get()) ++depth;
    raise(counts_.deepest, depth);
    if (options_.one_file_system && is_other_file_system(status, device_)) {
        entry_log_.add(EntryEvent::skipped, path_of(*dir_node), "another file system is mounted there");
        return {};
    }
    FB_TRY_ASSIGN(above, folders_.get(dir_node->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
    folders_.keep(dir_node, TreeSide::source, std::move(opened));
    return list(worker, dir_node);
}

Result<> TreeWalk::list(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(folder, folders_.get(dir_node, TreeSide::source));
    const auto listed = list_in_batches(
        worker, dir_node, *folder,
        [this](TreeWorker& other, const DirNodeRef& of, const NameBatch& batch) { inspect_batch(other, of, batch); },
        [this](const DirNodeRef& of) { done_in(of); });
    if (listed) return {};
    report_unlisted(*dir_node, *folder, listed.error(),
                    [this](const std::string& path, const Error& error) { entry_log_.add_error(path, error); });
    return {};
}

void TreeWalk::inspect_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch) {
    const auto folder = folders_.get(dir_node, TreeSide::source);
    if (!folder) return entry_log_.add_error(path_of(*dir_node), folder.error());
    std::vector<WalkedEntry> walked;
    WalkFound totals;
    for (const auto& named : batch) {
        if (options_.stop != nullptr && *options_.stop) share_.stop();
        if (share_.is_stopped()) return;
        const auto status = look_at(**folder, named);
        if (!status) {
            entry_log_.add_error(path_of(*dir_node, named.name), status.error());
            continue;
        }
        if (!options_.filter.takes(*dir_node, named.name, status->kind)) continue;
        const auto is_released =
            stored_.is_released(**folder, dir_node->status(TreeSide::source).id.device, named.name, *status);
        if (!is_released) {
            entry_log_.add_error(path_of(*dir_node, named.name), is_released.error());
            continue;
        }
        if (*is_released) ++totals.released;
        count(dir_node, *status, totals);
        if (options_.take) walked.push_back({path_of(*dir_node, named.name), *status, *is_released});
        if (options_.take_sum && status->kind == sys::EntryKind::file) {
            if (*is_released && !stored_.recalls())
                entry_log_.add(EntryEvent::released, path_of(*dir_node, named.name), released_text(TreeSide::source));
            else add_sum(worker, *dir_node, **folder, named.name);
        }
        if (status->kind != sys::EntryKind::folder) continue;
        const auto child = std::make_shared<DirNode>(dir_node, named.name);
        child->status(TreeSide::source) = *status;
        if (const auto wished = take_wish(*child); !wished) {
            entry_log_.add_error(path_of(*child), wished.error());
            continue;
        }
        ++dir_node->pending;
        share_.add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                   {.dir_node = dir_node, .name = named.name});
    }
    own_entries_ += batch.size();
    own_bytes_ += totals.bytes;
    add(dir_node, totals);
    tick();
    if (!walked.empty()) take(walked);
}

Result<sys::EntryStatus> TreeWalk::look_at(sys::Folder& folder, const ListedName& named) const {
    using sys::EntryKind;
    const bool is_told = named.bytes ? options_.look != WalkLook::status
                                     : named.kind != EntryKind::folder && named.kind != EntryKind::unknown &&
                                           (options_.look == WalkLook::nothing ||
                                            (options_.look == WalkLook::file_bytes && named.kind != EntryKind::file));
    if (!is_told) return folder.status_of(named.name);
    return sys::EntryStatus{.kind = named.kind == EntryKind::unknown ? EntryKind::file : named.kind,
                            .bytes = named.bytes.value_or(0)};
}

void TreeWalk::take(std::span<const WalkedEntry> entries) {
    const std::lock_guard lock(mutex_);
    if (taken_) taken_ = options_.take(entries);
    if (!taken_) share_.stop();
}

void TreeWalk::add_sum(TreeWorker& worker, const DirNode& dir_node, sys::Folder& folder, const std::string& name) {
    auto path = path_of(dir_node, name);
    const auto sum = [&]() -> Result<FileSum> {
        FB_TRY_ASSIGN(file, folder.open_file(name));
        return sum_of(*file, path, worker.buffer);
    }();
    if (!sum && sum.error().kind == ErrorKind::retry && !is_given_up(sum.error().what))
        return entry_log_.add(EntryEvent::changed, std::move(path), sum.error().what);
    if (!sum) return entry_log_.add_error(std::move(path), sum.error());
    take_sum(*sum);
}

void TreeWalk::take_sum(const FileSum& sum) {
    counts_.summed_bytes += sum.bytes;
    tick();
    const std::lock_guard lock(mutex_);
    if (taken_) taken_ = options_.take_sum(sum);
    if (!taken_) share_.stop();
}

void TreeWalk::count(const DirNodeRef& dir_node, const sys::EntryStatus& status, WalkFound& totals) {
    ++totals.of_kind[static_cast<std::size_t>(status.kind)];
    if (status.kind == sys::EntryKind::folder) return;
    if (status.names == 1 || options_.counts_each_name)
        return totals.add(status.bytes, status.allocated_bytes, status.kind == sys::EntryKind::file);
    if (team_ == nullptr) {
        if (is_first_name(status.id, status.names, 1))
            totals.add(status.bytes, status.allocated_bytes, status.kind == sys::EntryKind::file);
        else ++totals.further_names;
        return;
    }
    // Each process sees some names of an inode. The coordinator counts the inode once, so its names are sent along.
    auto& link = totals.links[team_id(*dir_node, TreeSide::source, status.id)];
    ++link.seen;
    link.names = status.names;
    link.bytes = status.bytes;
    link.allocated_bytes = status.allocated_bytes;
    link.is_file = status.kind == sys::EntryKind::file;
}

void TreeWalk::add(const DirNodeRef& dir_node, const WalkFound& totals) {
    if (team_ != nullptr) {
        const auto* part = dir_node.get();
        while (part->parent && !part->give_back) part = part->parent.get();
        if (part->give_back) {
            const std::lock_guard lock(mutex_);
            return totals_[part].add(totals);
        }
    }
    auto all = totals;
    // The bytes of an inode count with the first of its names.
    for (const auto& [id, link] : totals.links) {
        const bool is_first = is_first_name(id, link.names, link.seen);
        if (is_first) all.add(link.bytes, link.allocated_bytes, link.is_file);
        all.further_names += link.seen - (is_first ? 1 : 0);
    }
    for (std::size_t kind = 0; kind < all.of_kind.size(); ++kind) counts_.of_kind[kind] += all.of_kind[kind];
    counts_.bytes += all.bytes;
    counts_.allocated_bytes += all.allocated_bytes;
    counts_.file_bytes += all.file_bytes;
    counts_.further_names += all.further_names;
    counts_.with_holes += all.with_holes;
    counts_.released += all.released;
    raise(counts_.largest_bytes, all.largest_bytes);
    raise(counts_.deepest, all.deepest);
}

bool TreeWalk::is_first_name(const sys::EntryId& id, std::uint64_t names, std::uint64_t seen) {
    // The entry of an inode is erased with its last name, so the map holds only inodes with names still to come.
    const std::lock_guard lock(mutex_);
    const auto known = names_left_.find(id);
    auto left = known && *known ? **known : names;
    left -= std::min(left, seen);
    const auto kept = !known ? Result<>(known.error()) : left > 0 ? names_left_.put(id, left) : names_left_.erase(id);
    if (!kept && taken_) taken_ = kept;
    if (!kept) share_.stop();
    return known && !*known;
}

void TreeWalk::done_in(DirNodeRef dir_node) {
    const bool is_all = count_done(std::move(dir_node), folders_, [](const DirNodeRef&) {});
    if (is_all && team_ != nullptr) team_->root_done();
}

void TreeWalk::tick() {
    if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
}

}  // namespace

Result<> walk_tree(const std::string& path, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts) {
    FB_TRY_ASSIGN(folder, sys::open_tree(path));
    auto* lead = options.lead;
    if (lead == nullptr) return walk_open_tree(std::move(folder), options, entry_log, counts);
    FB_TRY_ASSIGN(own_root, team_root(*folder, path));
    FB_TRY(lead->begin({.verb = TeamVerb::walk,
                        .threads = team_threads({path}, options.threads),
                        .source = team_place(path),
                        .source_root = own_root,
                        .options = {.filter = options.filter, .one_file_system = options.one_file_system},
                        .lists = static_cast<bool>(options.take),
                        .sums = static_cast<bool>(options.take_sum)}));
    TreeWalk walk(options, entry_log, counts, &lead->team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(folder)));
    FB_TRY(lead->start(walk.work(root), [&](const TeamMessage& message) { walk.settle(message); }));
    const auto walked = walk.run(root, true);
    lead->finish(!walked);
    FB_TRY(walked);
    return entry_log.taken();
}

Result<> walk_open_tree(FolderRef folder, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts) {
    TreeWalk walk(options, entry_log, counts, nullptr);
    FB_TRY_ASSIGN(root, walk.open_root(std::move(folder)));
    FB_TRY(walk.run(root, true));
    return entry_log.taken();
}

Result<> walk_for_team(TeamPort& port, const TeamOrder& order) {
    EntryLog entry_log(log_to_first(port));
    WalkCounts counts;
    WalkOptions options{.threads = static_cast<std::uint32_t>(order.threads),
                        .filter = order.options.filter,
                        .one_file_system = order.options.one_file_system};
    if (order.lists)
        options.take = [&](std::span<const WalkedEntry> entries) {
            port.send(0, message_of(entries));
            return Result<>();
        };
    if (order.sums)
        options.take_sum = [&](const FileSum& sum) {
            port.send(0, message_of(sum));
            return Result<>();
        };
    FB_TRY_ASSIGN(folder, sys::open_tree(order.source));
    FB_TRY(check_team_root(*folder, order.source_root, order.source));
    TeamLease lease{std::chrono::seconds(order.timeout_seconds)};
    TeamMembership membership(port, order, lease);
    TreeWalk walk(options, entry_log, counts, &membership.team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(folder)));
    FB_TRY(membership.start(walk.work(root)));
    return membership.leave(walk.run(root, false));
}

}  // namespace forebay::tree
