#include "tree/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/try.hpp"
#include "tree/file_data.hpp"
#include "tree/portion.hpp"
#include "tree/pulse.hpp"
#include "tree/single_file.hpp"
#include "tree/stored_layouts.hpp"
#include "tree/team_counts.hpp"
#include "tree/team_lead.hpp"
#include "tree/team_member.hpp"
#include "tree/team_words.hpp"

namespace forebay::tree {

namespace {

struct BothFolders {
    FolderRef source, target;
};
struct BothStatuses {
    sys::EntryStatus source, target;
};

class CompareWalk {
public:
    CompareWalk(const CompareOptions& options, Remarks& remarks, CompareCounts& counts, Team* team)
        : options_(options),
          remarks_(remarks),
          counts_(counts),
          team_(team),
          team_counts_({&counts.entries, &counts.bytes}),
          share_(options.threads),
          stored_(options.recalls) {}

    Result<BranchRef> open_root(FolderRef source, FolderRef target);
    /// Of a team a member compares what it is given.
    Result<> run(const BranchRef& root, bool is_first);
    TeamWork work(const BranchRef& root);
    void settle(const TeamMessage& message);

private:
    void enter(TreeWorker& worker, const BranchRef& branch);
    Result<> try_enter(TreeWorker& worker, const BranchRef& branch);
    Result<FolderRef> open(const BranchRef& branch, TreeSide side);
    Result<> compare_names(TreeWorker& worker, const BranchRef& branch, Portion one, Portion other);
    void compare_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion);
    Result<> compare_entry(TreeWorker& worker, const BranchRef& branch, const BothFolders& folders,
                           const ListedName& named);
    Result<> compare_files(TreeWorker& worker, const BranchRef& branch, const BothFolders& folders,
                           const std::string& name);
    Result<std::string> other_difference(const BothFolders& folders, const std::string& name, const BothStatuses& both);
    Result<std::string> folder_difference(const BranchRef& branch);
    std::string name_difference(const BothStatuses& both);
    std::string difference_of_names(const sys::EntryId& source, const sys::EntryId& target);
    void say_names(const BranchRef& branch, const std::string& name, const BothStatuses& both);
    void differs(const BranchRef& branch, const std::string& name, const std::string& why);
    void done_in(BranchRef branch);
    void tick();

    const CompareOptions& options_;
    Remarks& remarks_;
    CompareCounts& counts_;
    Team* team_;
    TeamCounts team_counts_;
    OpenFolders folders_;
    WorkShare share_;
    StoredLayouts stored_;
    std::uint64_t device_ = 0;
    Pulse pulse_;
    std::mutex mutex_;  // guards what follows
    std::map<sys::EntryId, sys::EntryId> inodes_, reverse_;
};

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
    return share_.run([&](TreeWorker& worker) {
        if (is_first) enter(worker, root);
    });
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
        const auto difference = difference_of_names(message.id, message.other_id);
        if (!difference.empty()) remarks_.add(RemarkKind::differs, message.path, difference);
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
    for (const auto* at = branch->parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == branch->status(TreeSide::source).id)
            return Error{ErrorKind::refused, "a loop of mounts: it is a folder that it lies in"};
    FB_TRY_ASSIGN(difference, folder_difference(branch));
    if (!difference.empty()) differs(branch, "", difference);
    if (options_.one_file_system && branch->status(TreeSide::source).id.device != device_) {
        remarks_.add(RemarkKind::passed_over, path_of(*branch), "another file system is mounted there");
        return {};
    }
    Portion one, other;
    const auto read = [](sys::Folder& folder, Portion& names) {
        return folder.list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
            for (const auto& entry : listed) names.push_back({std::string(entry.name), entry.kind, entry.number});
            return {};
        });
    };
    FB_TRY(read(*source, one));
    FB_TRY(read(*target, other));
    return compare_names(worker, branch, std::move(one), std::move(other));
}

Result<> CompareWalk::compare_names(TreeWorker& worker, const BranchRef& branch, Portion one, Portion other) {
    std::ranges::sort(one, {}, &ListedName::name);
    std::ranges::sort(other, {}, &ListedName::name);
    Portion portion;
    auto at = one.begin(), other_at = other.begin();
    const auto alone = [&](const ListedName& named, RemarkKind kind) {
        if (!options_.filter.takes(*branch, named.name, named.kind)) return;
        remarks_.add(kind, path_of(*branch, named.name), "");
    };
    while (at != one.end() || other_at != other.end()) {
        if (other_at == other.end() || (at != one.end() && at->name < other_at->name)) {
            alone(*at++, RemarkKind::only_source);
        } else if (at == one.end() || other_at->name < at->name) {
            alone(*other_at++, RemarkKind::only_target);
        } else {
            if (portion.size() == portion_names(share_)) {
                ++branch->pending;
                const auto names = std::make_shared<const Portion>(std::move(portion));
                share_.add(worker,
                           [this, branch, names](TreeWorker& helper) {
                               compare_portion(helper, branch, *names);
                               done_in(branch);
                           },
                           {.branch = branch, .names = names});
                portion = {};
            }
            portion.push_back(std::move(*at++));
            ++other_at;
        }
    }
    compare_portion(worker, branch, portion);
    return {};
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

Result<> CompareWalk::compare_entry(TreeWorker& worker, const BranchRef& branch, const BothFolders& folders,
                                    const ListedName& named) {
    auto kind = named.kind;
    if (kind == sys::EntryKind::unknown) {
        FB_TRY_ASSIGN(status, folders.source->status_of(named.name));
        kind = status.kind;
    }
    if (!options_.filter.takes(*branch, named.name, kind)) return {};
    if (kind == sys::EntryKind::file && options_.reads_bytes) {
        FB_TRY_ASSIGN(is_left,
                      stored_.leaves(*branch, folders.source.get(), folders.target.get(), named.name, remarks_));
        if (!is_left) return compare_files(worker, branch, folders, named.name);
    }
    FB_TRY_ASSIGN(source, folders.source->status_of(named.name));
    FB_TRY_ASSIGN(target, folders.target->status_of(named.name));
    if (source.kind == sys::EntryKind::folder && target.kind == sys::EntryKind::folder) {
        const auto child = std::make_shared<Branch>(branch, named.name);
        ++branch->pending;
        share_.add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                   {.branch = branch, .name = named.name});
        return {};
    }
    FB_TRY_ASSIGN(difference, other_difference(folders, named.name, {source, target}));
    if (!difference.empty()) differs(branch, named.name, difference);
    else say_names(branch, named.name, {source, target});
    return {};
}

Result<std::string> CompareWalk::other_difference(const BothFolders& folders, const std::string& name,
                                                  const BothStatuses& both) {
    if (both.source.kind != both.target.kind) return std::string("it is of another kind");
    if (both.source.kind == sys::EntryKind::file && both.source.bytes != both.target.bytes)
        return fmt::format("{} bytes and {}", both.source.bytes, both.target.bytes);
    if (both.source.device_number != both.target.device_number) return std::string("another device");
    if (both.source.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(text, folders.source->link_text(name));
        FB_TRY_ASSIGN(other_text, folders.target->link_text(name));
        if (text != other_text) return std::string("it leads elsewhere");
    }
    auto difference = difference_of(both.source, both.target, options_.preserve);
    if (difference.empty()) difference = name_difference(both);
    if (!difference.empty() || !options_.preserve.attributes) return difference;
    FB_TRY_ASSIGN(names, folders.source->attribute_names_of(name));
    FB_TRY_ASSIGN(other_names, folders.target->attribute_names_of(name));
    return difference_of(attributes_of(*folders.source, name, std::move(names)),
                         attributes_of(*folders.target, name, std::move(other_names)));
}

Result<> CompareWalk::compare_files(TreeWorker& worker, const BranchRef& branch, const BothFolders& folders,
                                    const std::string& name) {
    FB_TRY_ASSIGN(target, folders.target->status_of(name));
    if (target.kind != sys::EntryKind::file) {
        differs(branch, name, "it is of another kind");
        return {};
    }
    FB_TRY_ASSIGN(file, folders.source->open_file(name));
    FB_TRY_ASSIGN(source, file->status());
    if (source.bytes != target.bytes) {
        differs(branch, name, fmt::format("{} bytes and {}", source.bytes, target.bytes));
        return {};
    }
    auto difference = difference_of(source, target, options_.preserve);
    if (difference.empty()) difference = name_difference({source, target});
    FB_TRY_ASSIGN(other, folders.target->open_file(name));
    if (difference.empty() && options_.preserve.attributes) {
        FB_TRY_ASSIGN(names, file->attribute_names());
        FB_TRY_ASSIGN(other_names, other->attribute_names());
        FB_TRY_ASSIGN(extended, difference_of(attributes_of(*file, std::move(names)),
                                              attributes_of(*other, std::move(other_names))));
        difference = extended;
    }
    if (source.bytes > 0) {
        FB_TRY_ASSIGN(at, first_difference(*file, *other, {0, source.bytes}, has_holes(source) || has_holes(target),
                                           worker.buffer));
        if (at < source.bytes) difference += fmt::format("{}bytes from {} on", difference.empty() ? "" : ", ", at);
        counts_.bytes += source.bytes;
    }
    if (!difference.empty()) differs(branch, name, difference);
    else say_names(branch, name, {source, target});
    return {};
}

Result<std::string> CompareWalk::folder_difference(const BranchRef& branch) {
    auto difference =
        difference_of(branch->status(TreeSide::source), branch->status(TreeSide::target), options_.preserve);
    if (!difference.empty() || !options_.preserve.attributes) return difference;
    FB_TRY_ASSIGN(source, folders_.get(branch, TreeSide::source));
    FB_TRY_ASSIGN(target, folders_.get(branch, TreeSide::target));
    FB_TRY_ASSIGN(names, source->attribute_names());
    FB_TRY_ASSIGN(other_names, target->attribute_names());
    return difference_of(attributes_of(*source, std::move(names)), attributes_of(*target, std::move(other_names)));
}

// Names of one inode of one tree must be names of one inode of the other. Of a team the first process alone knows all:
// it hears of names where nothing else differs.
std::string CompareWalk::name_difference(const BothStatuses& both) {
    if (team_ != nullptr || !options_.preserve.hard_links || (both.source.names == 1 && both.target.names == 1))
        return "";
    return difference_of_names(both.source.id, both.target.id);
}

std::string CompareWalk::difference_of_names(const sys::EntryId& source, const sys::EntryId& target) {
    const std::lock_guard lock(mutex_);
    const auto& known_target = inodes_.try_emplace(source, target).first->second;
    const auto& known_source = reverse_.try_emplace(target, source).first->second;
    return known_target == target && known_source == source ? "" : "its other names (hard links) are others";
}

void CompareWalk::say_names(const BranchRef& branch, const std::string& name, const BothStatuses& both) {
    if (team_ == nullptr || !options_.preserve.hard_links || (both.source.names == 1 && both.target.names == 1)) return;
    team_->say({.kind = TeamKind::name_pair,
                .id = team_id(*branch, TreeSide::source, both.source.id),
                .other_id = team_id(*branch, TreeSide::target, both.target.id),
                .path = path_of(*branch, name)});
}

void CompareWalk::done_in(BranchRef branch) {
    if (count_done(std::move(branch), folders_, [](const BranchRef&) {}) && team_ != nullptr) team_->root_done();
}

void CompareWalk::tick() {
    if (options_.watch) pulse_.beat([&] { options_.watch(counts_); });
}

}  // namespace

Result<> compare_trees(const std::string& source, const std::string& target, const CompareOptions& options,
                       Remarks& remarks, CompareCounts& counts) {
    FB_TRY_ASSIGN(roots, open_compared(source, target));
    auto& [one, other] = roots;
    auto* lead = options.lead;
    if (lead != nullptr) {
        FB_TRY(check_team_places({source, target}));
        FB_TRY_ASSIGN(source_root, team_root(*one));
        FB_TRY_ASSIGN(target_root, team_root(*other));
        FB_TRY(lead->begin({.verb = TeamVerb::compare,
                            .user = sys::new_entry_owner().user,
                            .umask = sys::new_entry_owner().umask,
                            .source = std::filesystem::absolute(source).string(),
                            .target = std::filesystem::absolute(target).string(),
                            .source_root = source_root,
                            .target_root = target_root,
                            .filter = options.filter,
                            .preserve = options.preserve,
                            .one_file_system = options.one_file_system,
                            .reads_bytes = options.reads_bytes,
                            .recalls = options.recalls}));
    }
    CompareWalk walk(options, remarks, counts, lead != nullptr ? &lead->team() : nullptr);
    FB_TRY_ASSIGN(root, walk.open_root(std::move(one), std::move(other)));
    if (lead != nullptr)
        FB_TRY(lead->start(walk.work(root), [&](const TeamMessage& message) { walk.settle(message); }));
    const auto compared = walk.run(root, true);
    if (lead != nullptr) lead->finish(!compared);
    FB_TRY(compared);
    return remarks.taken();
}

Result<> compare_for_team(TeamPort& port, const TeamOrder& order) {
    Remarks remarks([&](const Remark& remark) {
        port.send(0, message_of(remark));
        return Result<>();
    });
    CompareCounts counts;
    const CompareOptions options{.threads = static_cast<std::uint32_t>(order.threads),
                                 .filter = order.filter,
                                 .preserve = order.preserve,
                                 .reads_bytes = order.reads_bytes,
                                 .recalls = order.recalls,
                                 .one_file_system = order.one_file_system};
    FB_TRY_ASSIGN(source, sys::open_posix_folder(order.source));
    FB_TRY(check_team_root(*source, order.source_root, order.source));
    FB_TRY_ASSIGN(target, sys::open_posix_folder(order.target));
    FB_TRY(check_team_root(*target, order.target_root, order.target));
    TeamMembership membership(port, order);
    CompareWalk walk(options, remarks, counts, &membership.team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), std::move(target)));
    FB_TRY(membership.start(walk.work(root)));
    return membership.leave(walk.run(root, false));
}

}  // namespace forebay::tree
