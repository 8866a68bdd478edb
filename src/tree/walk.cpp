#include "tree/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/show_text.hpp"
#include "base/try.hpp"
#include "sys/tree_place.hpp"
#include "tree/file_data.hpp"
#include "tree/portion.hpp"
#include "tree/pulse.hpp"

namespace forebay::tree {

namespace {

void raise(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
    auto known = highest.load(std::memory_order_relaxed);
    while (known < value && !highest.compare_exchange_weak(known, value, std::memory_order_relaxed)) continue;
}

class TreeWalk {
public:
    TreeWalk(const WalkOptions& options, Remarks& remarks, WalkCounts& counts)
        : options_(options), remarks_(remarks), counts_(counts), share_(options.threads) {}

    Result<> run(FolderRef folder);

private:
    void enter(TreeWorker& worker, const BranchRef& branch);
    Result<> try_enter(TreeWorker& worker, const BranchRef& branch);
    Result<> list(TreeWorker& worker, const BranchRef& branch);
    void look_at_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion);
    /// Added up for a portion: threads that count each entry in the same places wait for each other.
    struct Sums {
        std::array<std::uint64_t, 8> of_kind{};
        std::uint64_t bytes = 0, allocated_bytes = 0, further_names = 0, with_holes = 0, largest_bytes = 0;
    };
    void count(const sys::EntryStatus& status, Sums& sums);
    void add(const Sums& sums);
    bool is_first_name(const sys::EntryStatus& status);
    void done_in(BranchRef branch);
    void tick();

    const WalkOptions& options_;
    Remarks& remarks_;
    WalkCounts& counts_;
    OpenFolders folders_;
    WorkShare share_;
    std::uint64_t device_ = 0;
    Pulse pulse_;
    std::mutex mutex_;  // guards what follows
    std::map<sys::EntryId, std::uint64_t> names_left_;
    Result<> taken_;
};

Result<> TreeWalk::run(FolderRef folder) {
    const auto root = std::make_shared<Branch>(nullptr, "");
    FB_TRY_ASSIGN(status, folder->status());
    root->status(TreeSide::source) = status;
    device_ = status.id.device;
    folders_.keep(root, TreeSide::source, std::move(folder));
    ++counts_.of_kind[static_cast<std::size_t>(sys::EntryKind::folder)];
    FB_TRY(share_.run([&](TreeWorker& worker) {
        if (auto listed = list(worker, root); !listed) remarks_.add_error(path_of(*root), listed.error());
        done_in(root);
    }));
    return taken_;
}

void TreeWalk::enter(TreeWorker& worker, const BranchRef& branch) {
    if (auto entered = try_enter(worker, branch); !entered) remarks_.add_error(path_of(*branch), entered.error());
    done_in(branch);
}

// The folder's status was taken when its name was seen: it is not asked for again.
Result<> TreeWalk::try_enter(TreeWorker& worker, const BranchRef& branch) {
    const auto& id = branch->status(TreeSide::source).id;
    std::uint64_t depth = 0;
    for (const auto* at = branch->parent.get(); at != nullptr; at = at->parent.get(), ++depth)
        if (at->status(TreeSide::source).id == id)
            return Error{ErrorKind::refused, "a loop of mounts: it is a folder that it lies in"};
    raise(counts_.deepest, depth);
    if (options_.one_file_system && id.device != device_) {
        remarks_.add(RemarkKind::passed_over, path_of(*branch), "another file system is mounted there");
        return {};
    }
    FB_TRY_ASSIGN(above, folders_.get(branch->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(branch->name));
    folders_.keep(branch, TreeSide::source, std::move(opened));
    return list(worker, branch);
}

Result<> TreeWalk::list(TreeWorker& worker, const BranchRef& branch) {
    FB_TRY_ASSIGN(folder, folders_.get(branch, TreeSide::source));
    return list_in_portions(
        worker, branch, *folder,
        [this](TreeWorker& other, const BranchRef& of, const Portion& portion) { look_at_portion(other, of, portion); },
        [this](const BranchRef& of) { done_in(of); });
}

void TreeWalk::look_at_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion) {
    const auto folder = folders_.get(branch, TreeSide::source);
    if (!folder) return remarks_.add_error(path_of(*branch), folder.error());
    std::vector<WalkedEntry> walked;
    Sums sums;
    for (const auto& named : portion) {
        if (share_.is_stopped()) return;
        const auto status = (*folder)->status_of(named.name);
        if (!status) {
            remarks_.add_error(path_of(*branch, named.name), status.error());
            continue;
        }
        if (!options_.filter.takes(*branch, named.name, status->kind)) continue;
        count(*status, sums);
        if (options_.take) walked.push_back({path_of(*branch, named.name), *status});
        if (status->kind != sys::EntryKind::folder) continue;
        const auto child = std::make_shared<Branch>(branch, named.name);
        child->status(TreeSide::source) = *status;
        ++branch->pending;
        share_.add(worker, [this, child](TreeWorker& other) { enter(other, child); });
    }
    add(sums);
    tick();
    if (walked.empty()) return;
    const std::lock_guard lock(mutex_);
    if (taken_) taken_ = options_.take(walked);
    if (!taken_) share_.stop();
}

void TreeWalk::count(const sys::EntryStatus& status, Sums& sums) {
    ++sums.of_kind[static_cast<std::size_t>(status.kind)];
    if (status.kind == sys::EntryKind::folder) return;
    if (status.names > 1 && !is_first_name(status)) {
        ++sums.further_names;
        return;
    }
    sums.bytes += status.bytes;
    sums.allocated_bytes += status.allocated_bytes;
    if (status.kind != sys::EntryKind::file) return;
    sums.largest_bytes = std::max(sums.largest_bytes, status.bytes);
    if (has_holes(status)) ++sums.with_holes;
}

void TreeWalk::add(const Sums& sums) {
    for (std::size_t kind = 0; kind < sums.of_kind.size(); ++kind) counts_.of_kind[kind] += sums.of_kind[kind];
    counts_.bytes += sums.bytes;
    counts_.allocated_bytes += sums.allocated_bytes;
    counts_.further_names += sums.further_names;
    counts_.with_holes += sums.with_holes;
    raise(counts_.largest_bytes, sums.largest_bytes);
}

bool TreeWalk::is_first_name(const sys::EntryStatus& status) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = names_left_.try_emplace(status.id, status.names);
    if (--found->second == 0) names_left_.erase(found);
    return is_new;
}

void TreeWalk::done_in(BranchRef branch) {
    count_done(std::move(branch), folders_, [](const BranchRef&) {});
}

void TreeWalk::tick() {
    if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
}

}  // namespace

Result<> walk_tree(const std::string& path, const WalkOptions& options, Remarks& remarks, WalkCounts& counts) {
    FB_TRY_ASSIGN(folder, sys::open_tree(path));
    FB_TRY(TreeWalk(options, remarks, counts).run(std::move(folder)));
    return remarks.taken();
}

}  // namespace forebay::tree
