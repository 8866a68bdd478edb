#include "transfer/copy/copy_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/copy/checksums.hpp"
#include "transfer/copy/copy_entry.hpp"
#include "transfer/copy/extra.hpp"
#include "transfer/copy/foresee.hpp"
#include "transfer/copy/large_file.hpp"
#include "transfer/copy/make_file.hpp"
#include "transfer/copy/remove.hpp"
#include "transfer/copy/unnamed.hpp"

namespace forebay::tree {

namespace {

// A folder of the target that is mounted in the source would be copied into itself, again and again.
Result<> check_no_copy(const Branch& branch) {
    for (const auto* at = branch.parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::target).id == branch.status(TreeSide::source).id)
            return Error{ErrorKind::refused, "the copy of " + path_of(*at) + " is mounted there"};
    return {};
}

// Nor is one of the source filled or emptied that the target has by another path.
Result<> check_no_source(const Branch& branch) {
    for (const auto* at = &branch; at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == branch.status(TreeSide::target).id)
            return Error{ErrorKind::refused, "the target has the source's " + path_of(*at) + " itself there"};
    return {};
}

}  // namespace

Result<BranchRef> CopyWalk::open_root(FolderRef source, const FolderRef& target, bool was_made, bool is_first) {
    const auto root = std::make_shared<Branch>(nullptr, "");
    FB_TRY_ASSIGN(status, source->status());
    root->status(TreeSide::source) = status;
    device_ = status.id.device;
    context_.folders.keep(root, TreeSide::source, std::move(source));
    root->is_new = was_made;
    root->was_made = was_made;
    root->was_entered = true;
    FB_TRY(take_wish(*root, context_.options.wished.get()));
    if (target) {
        FB_TRY_ASSIGN(target_status, target->status());
        root->status(TreeSide::target) = target_status;
        target_root_ = target_status.id;
        context_.folders.keep(root, TreeSide::target, target);
        Spellings::of(*root, *target);
        if (is_first) {
            root->seen.is_untouched = context_.is_untouched(*root);
            if (!context_.options.is_dry) {
                give_layout(root, *target);
                FB_TRY(prepare_target(root, *target));
            }
        }
    }
    return root;
}

Result<> CopyWalk::run(const BranchRef& root, bool is_first) {
    FB_TRY(context_.naming.run([&](TreeWorker& worker) {
        if (!is_first) return;
        if (auto listed = list(worker, root); !listed) context_.report(root, "", listed.error());
        context_.done_in(root);
    }));
    return context_.fatal();
}

void CopyWalk::enter(TreeWorker& worker, const BranchRef& branch) {
    if (auto entered = try_enter(worker, branch); !entered) context_.report(branch, "", entered.error());
    context_.done_in(branch);
}

Result<> CopyWalk::try_enter(TreeWorker& worker, const BranchRef& branch) {
    if (branch->parent->had_loss) branch->had_loss = true;  // whoever was lost may have been at work here, too
    FB_TRY_ASSIGN(above, context_.folders.get(branch->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(branch->name));
    const FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    branch->status(TreeSide::source) = status;
    if (status.id == target_root_) {
        if (context_.options.removes_extra)
            return Error{ErrorKind::refused, "it is the target itself: what is removed there would be lost here"};
        context_.remarks.add(RemarkKind::passed_over, path_of(*branch), "it is the target itself");
        return {};
    }
    FB_TRY(check_no_loop(*branch));
    FB_TRY(check_no_copy(*branch));
    context_.folders.keep(branch, TreeSide::source, folder);
    if (auto entered = enter_target(branch); !entered) return of_target(entered.error());
    const bool is_left = context_.options.one_file_system && is_other_file_system(status, device_);
    if (!is_left) FB_TRY(check_no_source(*branch));
    branch->seen.is_untouched = !branch->was_made && context_.is_untouched(*branch);
    branch->was_entered = true;
    ++context_.counts.folders;
    if (is_left) {
        context_.remarks.add(RemarkKind::passed_over, path_of(*branch), "another file system is mounted there");
        return {};
    }
    return list(worker, branch);
}

Result<> CopyWalk::list(TreeWorker& worker, const BranchRef& branch) {
    FB_TRY_ASSIGN(folder, context_.folders.get(branch, TreeSide::source));
    const auto listed = list_in_portions(
        worker, branch, *folder,
        [this](TreeWorker& other, const BranchRef& of, const Portion& portion) { copy_portion(other, of, portion); },
        [this](const BranchRef& of) { context_.done_in(of); });
    if (!listed && listed.error().kind != ErrorKind::unsupported) return listed;
    if (!listed)
        report_unlisted(*branch, *folder, listed.error(),
                        [this](const std::string& path, const Error& error) { context_.report(path, error); });
    if (branch->named == nullptr) return {};
    return branch->named->names_below(path_of(*branch), [&](const std::string& name) -> Result<> {
        const auto status = folder->status_of(name);
        if (!status) context_.report(branch, name, status.error());
        else if (status->kind != sys::EntryKind::folder) FB_TRY(tell_wished_below(*branch, name, status->kind));
        return {};
    });
}

Result<bool> CopyWalk::tell_wished_below(const Branch& branch, const std::string& name, sys::EntryKind kind) {
    const auto path = path_of(branch, name);
    auto* list = branch.wished != nullptr ? branch.wished : branch.named;
    FB_TRY_ASSIGN(wish, list->wish_of(path));
    const auto* next = kind == sys::EntryKind::link ? ", and none is followed: give the path that it stands for" : "";
    if (wish.has_below)
        FB_TRY(list->names_below(path, [&](const std::string& below) {
            context_.report(path + "/" + below,
                            {ErrorKind::refused, fmt::format("{} is a {}{}", show_text(path), word_of(kind), next)});
            return Result<>();
        }));
    return wish.is_whole;
}

void CopyWalk::copy_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion) {
    CopyEntry entry{.branch = branch};
    const auto opened = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, context_.folders.get(branch, TreeSide::source));
        entry.source = source;
        FB_TRY_ASSIGN(target, context_.target_folder(branch));
        entry.target = target;
        return {};
    }();
    if (!opened) return context_.report(branch, "", opened.error());
    for (const auto& named : portion) {
        if (context_.share.is_stopped()) return;
        entry.name = named.name;
        if (auto copied = copy_named(worker, entry, named); !copied)
            context_.report(branch, entry.name, copied.error());
        ++context_.counts.entries;
        context_.tick();
    }
}

Result<> CopyWalk::copy_named(TreeWorker& worker, CopyEntry& entry, const ListedName& named) {
    auto kind = named.kind;
    if (kind == sys::EntryKind::unknown) {
        FB_TRY_ASSIGN(status, entry.source->status_of(named.name));
        kind = status.kind;
    }
    if (!context_.options.filter.takes(*entry.branch, named.name, kind)) return {};
    // Its copy would take the place of an entry that has not its name yet.
    if (context_.is_temporary(named.name))
        return Error{ErrorKind::refused, "this copy gives such names to what is not whole: it is not copied"};
    if (kind != sys::EntryKind::folder) {
        if (entry.branch->wished != nullptr) {
            FB_TRY_ASSIGN(is_meant, tell_wished_below(*entry.branch, named.name, kind));
            if (!is_meant) return {};
        }
        context_.tell_run(*entry.branch, named.name);
        if (!context_.options.filter.include.empty()) note_wanted(entry.branch.get());
        return EntryCopier(context_, worker).copy(entry, kind, named.number);
    }
    const auto child = std::make_shared<Branch>(entry.branch, named.name);
    FB_TRY(take_wish(*child));
    ++entry.branch->pending;
    context_.share.add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                       {.branch = entry.branch, .name = named.name});
    return {};
}

// A folder of the target goes whole or not at all, and for something that can be read: else neither would be there.
Result<> CopyWalk::check_replaceable(const EntryPlace& place) {
    FB_TRY_ASSIGN(
        holds, holds_left_out(context_.folders, TreeSide::target, place.branch, place.name, context_.options.filter));
    if (holds)
        return Error{ErrorKind::refused, "a folder stands there at the target, with entries that patterns leave out"};
    if (context_.options.is_dry) return {};
    FB_TRY_ASSIGN(source, context_.folders.get(place.branch, TreeSide::source));
    FB_TRY_ASSIGN(status, source->status_of(place.name));
    if (status.kind != sys::EntryKind::file) return {};
    FB_TRY(context_.check_present(*place.branch, *source, place.name));
    FB_TRY_ASSIGN(file, source->open_file(place.name));
    std::vector<std::byte> buffer;
    FB_TRY(sum_of(*file, place.name, buffer));
    return {};
}

// What a finished folder of the target has is what its source has.
Result<> CopyWalk::lend_again(const BranchRef& branch) {
    FB_TRY_ASSIGN(target, context_.folders.get(branch, TreeSide::target));
    FB_TRY_ASSIGN(now, target->status());
    FB_TRY_ASSIGN(gives_acl, has_default_acl(*target));
    branch->status(TreeSide::target) = now;
    branch->seen.gives_acl = gives_acl;
    branch->seen.lent_permissions = 0;
    return lend_permissions(*branch, *target, context_.owner.user);
}

Result<> CopyWalk::replace_folders() {
    auto places = context_.take_put_off();
    if (places.empty()) return {};
    const auto spare = [&](const std::string& why) {
        for (const auto& place : places)
            context_.remarks.add(RemarkKind::failed, path_of(*place.branch, place.name),
                                 "a folder stands there at the target, and " + why);
        return Result<>();
    };
    if (context_.remarks.has_errors()) return spare("after errors nothing is removed");
    std::erase_if(places, [this](const EntryPlace& place) {
        const auto checked = check_replaceable(place);
        if (!checked) context_.report(place.branch, place.name, checked.error());
        return !checked;
    });
    if (places.empty()) return {};
    std::set<BranchRef> branches;
    // Held for good, so that a branch that was finished is not finished twice by what is done in it now.
    for (const auto& place : places)
        if (branches.insert(place.branch).second) ++place.branch->pending;
    auto root = places.front().branch;
    while (root->parent) root = root->parent;
    FB_TRY_ASSIGN(source, context_.folders.get(root, TreeSide::source));
    FB_TRY_ASSIGN(mounts, source->mounts_below());
    const auto remove = [&](Remarks& remarks, bool is_dry, Amount& would) {
        TreeRemover remover({.folders = context_.folders,
                             .remarks = remarks,
                             .removed = context_.counts.removed,
                             .is_dry = is_dry,
                             .would_remove = &would,
                             .spared = all_of_source(root->status(TreeSide::source).id, mounts),
                             .filter = &context_.options.filter,
                             .lends_to = context_.owner.user},
                            TreeSide::target);
        return context_.share.run([&](TreeWorker& worker) {
            for (const auto& place : places) remover.add_folder(worker, place.branch, place.name);
        });
    };
    if (context_.options.removed_max != UINT64_MAX && !context_.options.is_dry) {
        Remarks unsaid;
        Amount would;
        FB_TRY(remove(unsaid, true, would));
        FB_TRY_ASSIGN(target, context_.folders.get(root, TreeSide::target));
        FB_TRY_ASSIGN(extra, count_extra(source, target, {mounts, {}}, context_.options, unsaid));
        const auto all = context_.counts.removed + would.entries + extra;
        context_.counts.not_removed = too_many_removed(context_.options, all, unsaid);
        if (const auto& why = context_.counts.not_removed; !why.empty()) return spare(why);
    }
    if (!context_.options.is_dry)
        std::erase_if(branches, [&](const BranchRef& branch) {
            const auto lent = lend_again(branch);
            if (!lent) context_.report(branch, "", of_target(lent.error()));
            if (!lent) std::erase_if(places, [&](const EntryPlace& place) { return place.branch == branch; });
            return !lent;
        });
    FB_TRY(remove(context_.remarks, context_.options.is_dry, context_.counts.would_remove));
    context_.has_cleared();
    FB_TRY(context_.naming.run([&](TreeWorker& worker) {
        for (const auto& place : places) copy_portion(worker, place.branch, {{.name = place.name}});
    }));
    for (const auto& place : context_.take_put_off())
        context_.remarks.add(RemarkKind::failed, path_of(*place.branch, place.name),
                             "at the target, a folder stands there, with what could not be removed");
    if (context_.options.is_dry) return context_.fatal();
    for (const auto& branch : branches) {
        branch->was_changed = true;
        finish(branch);
    }
    return context_.fatal();
}

}  // namespace forebay::tree
