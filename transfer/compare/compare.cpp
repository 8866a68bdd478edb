#include "transfer/compare/compare.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/compare/compare_walk.hpp"
#include "transfer/team/team_member.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/walk/single_file.hpp"
#include "transfer/walk/unnamed.hpp"

namespace forebay::tree {

Result<BranchRef> CompareWalk::open_root(FolderRef source, FolderRef target) {
    const auto root = std::make_shared<Branch>(nullptr, "");
    FB_TRY_ASSIGN(status, source->status());
    FB_TRY_ASSIGN(target_status, target->status());
    root->statuses = {status, target_status};
    device_ = status.id.device;
    folders_.keep(root, TreeSide::source, std::move(source));
    folders_.keep(root, TreeSide::target, std::move(target));
    return root;
}

Result<> CompareWalk::run(const BranchRef& root, bool is_first) {
    FB_TRY(share_.run([&](TreeWorker& worker) {
        if (is_first) enter(worker, root);
    }));
    const std::lock_guard lock(mutex_);
    return ended_;
}

TeamWork CompareWalk::work(const BranchRef& root) {
    return {.share = share_,
            .folders = folders_,
            .root = root,
            .enter = [this](TreeWorker& worker, const BranchRef& branch) { enter(worker, branch); },
            .portion = [this](TreeWorker& worker, const BranchRef& branch,
                              const Portion& portion) { compare_portion(worker, branch, portion); },
            .done = [this](const BranchRef& branch) { done_in(branch); },
            .counts = [this] { return team_counts_.own(); }};
}

void CompareWalk::settle(const TeamMessage& message) {
    if (message.kind == TeamKind::remark) return add_remark(message, remarks_);
    if (message.kind == TeamKind::name_pair) {
        const auto difference = difference_of_names(message.id, message.other_id, 0);
        if (difference && !difference->empty()) remarks_.add(RemarkKind::differs, message.path, *difference);
    } else if (message.kind == TeamKind::counts || message.kind == TeamKind::bye) {
        team_counts_.take(message);
        tick();
    }
}

void CompareWalk::differs(const BranchRef& branch, const std::string& name, const std::string& why) {
    remarks_.add(RemarkKind::differs, name.empty() ? path_of(*branch) : path_of(*branch, name), why);
}

Result<FolderRef> CompareWalk::open(const BranchRef& branch, TreeSide side) {
    if (!branch->parent) return folders_.get(branch, side);
    FB_TRY_ASSIGN(above, folders_.get(branch->parent, side));
    FB_TRY_ASSIGN(opened, above->open_folder(branch->name));
    FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    branch->status(side) = status;
    folders_.keep(branch, side, folder);
    return folder;
}

void CompareWalk::enter(TreeWorker& worker, const BranchRef& branch) {
    if (auto entered = try_enter(worker, branch); !entered)
        remarks_.add_error(path_of(*branch), folders_.with_side(branch, "", entered.error()));
    done_in(branch);
}

Result<> CompareWalk::try_enter(TreeWorker& worker, const BranchRef& branch) {
    FB_TRY_ASSIGN(source, open(branch, TreeSide::source));
    FB_TRY_ASSIGN(target, open(branch, TreeSide::target));
    FB_TRY(check_no_loop(*branch));
    if (options_.one_file_system && is_other_file_system(branch->status(TreeSide::source), device_)) {
        remarks_.add(RemarkKind::passed_over, path_of(*branch), "another file system is mounted there");
        branch->was_entered = true;
        return {};
    }
    {
        HeldNames held(held_bytes_, options_.tables.name_bytes);
        Portion first, other;
        FB_TRY_ASSIGN(holds_source, hold_names(*branch, TreeSide::source, *source, held, first));
        auto holds_all = holds_source;
        if (holds_all) {
            FB_TRY_ASSIGN(holds_target, hold_names(*branch, TreeSide::target, *target, held, other));
            holds_all = holds_target;
        }
        if (holds_all) {
            branch->was_entered = true;
            compare_names(worker, branch, std::move(first), std::move(other));
            return {};
        }
    }
    FB_TRY(compare_by_name(worker, branch, *source, *target));
    branch->was_entered = true;
    return {};
}

// False: they are too many.
Result<bool> CompareWalk::hold_names(const Branch& branch, TreeSide side, sys::Folder& folder, HeldNames& held,
                                     Portion& names) {
    bool has_room = true;
    const auto listed = folder.list([&](std::span<const sys::NamedEntry> portion) -> Result<> {
        has_room = held.add(portion);
        if (!has_room) return Error{ErrorKind::retry, "more names than are held in memory"};
        for (const auto& entry : portion)
            names.push_back({.name = std::string(entry.name), .kind = entry.kind, .number = entry.number});
        return {};
    });
    if (has_room) FB_TRY(settle_listing(branch, side, folder, listed));
    return has_room;
}

// What has no name of an entry is named, and all else is compared.
Result<> CompareWalk::settle_listing(const Branch& branch, TreeSide side, sys::Folder& folder, const Result<>& listed) {
    if (listed || listed.error().kind != ErrorKind::unsupported) return listed;
    report_unlisted(branch, folder, listed.error(), [&](const std::string& path, const Error& error) {
        remarks_.add(RemarkKind::failed, path,
                     side == TreeSide::source ? error.what : std::string(at_target) + ": " + error.what);
    });
    return {};
}

void CompareWalk::only(RemarkKind kind, const Branch& branch, const std::string& name, sys::EntryKind of) {
    if (options_.filter.takes(branch, name, of)) remarks_.add(kind, path_of(branch, name), "");
}

// What the source has is compared, or not found at the target; what the target has is then only looked for.
Result<> CompareWalk::compare_by_name(TreeWorker& worker, const BranchRef& branch, sys::Folder& source,
                                      sys::Folder& target) {
    const auto done = [this](const BranchRef& of) { done_in(of); };
    FB_TRY(settle_listing(*branch, TreeSide::source, source,
                          list_in_portions(
                              worker, branch, source,
                              [this](TreeWorker& other, const BranchRef& of, const Portion& portion) {
                                  compare_portion(other, of, portion);
                              },
                              done)));
    return settle_listing(
        *branch, TreeSide::target, target,
        list_in_portions(
            worker, branch, target,
            [this](TreeWorker&, const BranchRef& of, const Portion& portion) { look_for_names(of, portion); }, done,
            false));
}

void CompareWalk::look_for_names(const BranchRef& branch, const Portion& portion) {
    const auto source = folders_.get(branch, TreeSide::source);
    if (!source) return remarks_.add_error(path_of(*branch), source.error());
    for (const auto& named : portion) {
        if (share_.is_stopped()) return;
        const auto status = (*source)->status_of(named.name);
        if (status) continue;
        if (status.error().kind == ErrorKind::missing) only(RemarkKind::only_target, *branch, named.name, named.kind);
        else remarks_.add_error(path_of(*branch, named.name), status.error());
    }
}

void CompareWalk::compare_names(TreeWorker& worker, const BranchRef& branch, Portion first, Portion other) {
    std::ranges::sort(first, {}, &ListedName::name);
    std::ranges::sort(other, {}, &ListedName::name);
    Portion portion;
    auto at = first.begin(), other_at = other.begin();
    const auto alone = [&](const ListedName& named, RemarkKind kind) {
        only(kind, *branch, named.name, named.kind);
        const bool is_wanted = kind == RemarkKind::only_source && named.kind != sys::EntryKind::folder &&
                               options_.filter.takes(*branch, named.name, named.kind);
        if (is_wanted) note_wanted(branch.get());
    };
    while (at != first.end() || other_at != other.end()) {
        if (other_at == other.end() || (at != first.end() && at->name < other_at->name)) {
            alone(*at++, RemarkKind::only_source);
        } else if (at == first.end() || other_at->name < at->name) {
            alone(*other_at++, RemarkKind::only_target);
        } else {
            if (portion.size() == portion_names(share_))
                hand_over(
                    worker, branch, portion,
                    [this](TreeWorker& helper, const BranchRef& of, const Portion& names) {
                        compare_portion(helper, of, names);
                    },
                    [this](const BranchRef& of) { done_in(of); });
            at->other_kind = other_at++->kind;
            portion.push_back(std::move(*at++));
        }
    }
    compare_portion(worker, branch, portion);
}

void CompareWalk::compare_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion) {
    BothFolders folders;
    const auto opened = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, folders_.get(branch, TreeSide::source));
        FB_TRY_ASSIGN(target, folders_.get(branch, TreeSide::target));
        folders = {source, target};
        return {};
    }();
    if (!opened) return remarks_.add_error(path_of(*branch), opened.error());
    for (const auto& named : portion) {
        if (share_.is_stopped()) return;
        if (auto compared = compare_entry(worker, branch, folders, named); !compared)
            remarks_.add_error(path_of(*branch, named.name), folders_.with_side(branch, named.name, compared.error()));
        ++counts_.entries;
        tick();
    }
}

// With patterns to include, copies leave a folder that holds nothing that fits as it is.
void CompareWalk::finish(const BranchRef& branch) {
    if (!branch->was_entered || share_.is_stopped()) return;
    if (!options_.filter.include.empty() && !branch->holds_wanted) return;
    const auto difference = folder_difference(branch);
    if (!difference) remarks_.add_error(path_of(*branch), folders_.with_side(branch, "", difference.error()));
    else if (!difference->empty()) differs(branch, "", *difference);
}

void CompareWalk::done_in(BranchRef branch) {
    const bool is_all = count_done(std::move(branch), folders_, [this](const BranchRef& done) { finish(done); });
    if (is_all && team_ != nullptr) team_->root_done();
}

void CompareWalk::tick() {
    if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
}

Result<> compare_trees(const std::string& source, const std::string& target, const CompareOptions& options,
                       Remarks& remarks, CompareCounts& counts) {
    FB_TRY_ASSIGN(roots, open_compared(source, target));
    auto& [first, other] = roots;
    auto* lead = options.lead;
    if (lead == nullptr) return compare_open_trees(std::move(first), std::move(other), options, remarks, counts);
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
    CompareWalk walk(options, remarks, counts, &lead->team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(first), std::move(other)));
    FB_TRY(lead->start(walk.work(root), [&](const TeamMessage& message) { walk.settle(message); }));
    const auto compared = walk.run(root, true);
    lead->finish(!compared);
    FB_TRY(compared);
    return remarks.taken();
}

Result<> compare_open_trees(FolderRef source, FolderRef target, const CompareOptions& options, Remarks& remarks,
                            CompareCounts& counts) {
    CompareWalk walk(options, remarks, counts, nullptr);
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), std::move(target)));
    FB_TRY(walk.run(root, true));
    return remarks.taken();
}

Result<> compare_for_team(TeamPort& port, const TeamOrder& order) {
    Remarks remarks(remarks_to_first(port));
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
    TeamTerm term{std::chrono::seconds(order.patience_seconds)};
    TeamMembership membership(port, order, term);
    CompareWalk walk(options, remarks, counts, &membership.team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), std::move(target)));
    FB_TRY(membership.start(walk.work(root)));
    return membership.leave(walk.run(root, false));
}

}  // namespace forebay::tree
