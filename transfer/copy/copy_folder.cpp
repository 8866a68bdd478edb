// The folders of the target: how a copy makes, enters, cleans and finishes them.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry.hpp"
#include "transfer/copy/copy_walk.hpp"
#include "transfer/copy/foresee.hpp"
#include "transfer/copy/large_file.hpp"

namespace forebay::tree {

namespace {

Result<std::set<std::string>> temporaries_in(const CopyContext& context, sys::Folder& folder) {
    std::set<std::string> names;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
        for (const auto& one : listed)
            if (context.is_temporary(one.name)) names.emplace(one.name);
        return {};
    }));
    return names;
}

Result<bool> has_no_entry(sys::Folder& folder) {
    bool is_empty = true;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) {
        is_empty = is_empty && names.empty();
        return Result<>();
    }));
    return is_empty;
}

// One that is gone already is fine.
template <class Names>
Result<> remove_names(sys::Folder& folder, const Names& names) {
    for (const auto& name : names)
        if (auto removed = folder.remove(name); !removed && removed.error().kind != ErrorKind::missing) return removed;
    return {};
}

// Of what is no folder, and stands where the folder `branch` is to be made.
Result<> check_is_meant(const CopyContext& context, const Branch& branch, sys::EntryKind kind) {
    if (context.options.filter.takes(*branch.parent, branch.name, kind)) return {};
    return Error{ErrorKind::refused, "an entry stands there that patterns leave out"};
}

}  // namespace

Result<> CopyWalk::enter_target(const BranchRef& branch) {
    if (context_.options.is_dry) return enter_dry(branch);
    FB_TRY_ASSIGN(above, context_.folders.get(branch->parent, TreeSide::target));
    FB_TRY_ASSIGN(folder, make_folder(branch, *above));
    FB_TRY_ASSIGN(status, folder->status());
    branch->status(TreeSide::target) = status;
    context_.folders.keep(branch, TreeSide::target, folder);
    Spellings::of(*branch, *folder);
    if (branch->was_made) {
        branch->parent->was_changed = true;
        const auto& outer = branch->parent->status(TreeSide::target);
        const auto group = (outer.permissions & 02000u) != 0 ? outer.group : context_.owner.group;
        if (status.user != context_.owner.user || status.group != group) context_.owner.is_unknown = true;
    }
    give_layout(branch, *folder);
    return prepare_target(branch, *folder);
}

void CopyWalk::give_layout(const BranchRef& branch, sys::Folder& target) {
    const auto given = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, context_.folders.get(branch, TreeSide::source));
        auto done = context_.layouts.give_folder(*branch, *source, target);
        if (done) return done;
        return context_.settle(path_of(*branch), branch->status(TreeSide::source), "layout of new files", "",
                               std::move(done));
    }();
    if (!given) context_.report(path_of(*branch), given.error());
}

// What stands there may be another entry, in whose name this one would be made.
Result<> CopyWalk::claim_folder(const BranchRef& branch) {
    FB_TRY_ASSIGN(above, context_.folders.get(branch->parent, TreeSide::target));
    if (Spellings::of(*branch->parent, *above) == nullptr) return {};
    FB_TRY_ASSIGN(source, context_.folders.get(branch->parent, TreeSide::source));
    const auto existing = above->status_of(branch->name);
    if (!existing) return {};  // whoever needs it says so
    return claim_name(context_, {branch->parent, source, above, branch->name}, *existing);
}

Result<FolderRef> CopyWalk::make_folder(const BranchRef& branch, sys::Folder& above) {
    auto made = above.make_folder(branch->name, context_.new_folder_permissions());
    const bool has_replaced = !made;
    if (!made && made.error().kind == ErrorKind::refused) {
        FB_TRY(claim_folder(branch));
        auto existing = above.open_folder(branch->name);
        if (existing) return FolderRef(std::move(*existing));
        // A link, a file: replaced as a file is by a file. What may not be opened stays.
        const auto status = above.status_of(branch->name);
        if (!status) return status.error().kind == ErrorKind::missing ? made.error() : status.error();
        if (status->kind == sys::EntryKind::folder) return existing.error();
        FB_TRY(check_is_meant(context_, *branch, status->kind));
        if (context_.remarks.records(RemarkKind::replaced)) FB_TRY(context_.check_told());
        FB_TRY(above.remove(branch->name));
        made = above.make_folder(branch->name, context_.new_folder_permissions());
    }
    FB_TRY(made);
    branch->is_new = true;
    branch->was_made = true;
    context_.record(has_replaced ? RemarkKind::replaced : RemarkKind::copied, *branch->parent, branch->name);
    FB_TRY_ASSIGN(opened, above.open_folder(branch->name));
    context_.mark_unfinished(*opened);
    return FolderRef(std::move(opened));
}

Result<> CopyWalk::enter_dry(const BranchRef& branch) {
    bool is_other = false;
    if (!branch->parent->was_made) {
        FB_TRY_ASSIGN(above, context_.folders.get(branch->parent, TreeSide::target));
        FB_TRY(claim_folder(branch));
        auto opened = above->open_folder(branch->name);
        if (opened) {
            FB_TRY_ASSIGN(status, (*opened)->status());
            branch->status(TreeSide::target) = status;
            context_.folders.keep(branch, TreeSide::target, std::move(*opened));
            return {};
        }
        if (opened.error().kind != ErrorKind::missing && opened.error().kind != ErrorKind::refused)
            return opened.error();
        const auto status = above->status_of(branch->name);
        is_other = status.has_value();
        if (status && status->kind == sys::EntryKind::folder) return opened.error();  // closed to this user
        if (status) FB_TRY(check_is_meant(context_, *branch, status->kind));
    }
    branch->was_made = true;  // as it would be
    (is_other ? context_.counts.would_replace : context_.counts.would_copy).add(0);
    context_.remarks.add(RemarkKind::would_copy, path_of(*branch),
                         is_other ? "it is of another kind" : "the folder is not at the target");
    return {};
}

// A folder that others made may have a default ACL, and permissions that keep even its owner from filling it.
Result<> CopyWalk::prepare_target(const BranchRef& branch, sys::Folder& folder) {
    const auto& status = branch->status(TreeSide::target);
    const bool inherits = branch->was_made && branch->parent && branch->parent->seen.gives_acl;
    if (branch->was_made && !inherits && branch->parent) return {};
    if (branch->was_made) {
        FB_TRY_ASSIGN(names, folder.attribute_names());
        for (const auto* acl : {default_acl, access_acl})  // many file systems have no ACLs to remove
            if (std::ranges::find(names, acl) != names.end()) FB_TRY(folder.remove_attribute(acl));
        return {};
    }
    FB_TRY_ASSIGN(gives_acl, has_default_acl(folder));
    branch->seen.gives_acl = gives_acl;
    if (context_.is_of_others(*branch)) return find_leftovers(branch, folder);
    if (context_.is_unfinished(status)) branch->is_new = true;  // by a run that was killed
    if (!context_.options.filter.include.empty() && context_.may_be_unmarked(status)) {
        FB_TRY_ASSIGN(is_empty, has_no_entry(folder));
        branch->is_new = is_empty;
    }
    FB_TRY(lend_permissions(*branch, folder, context_.owner.user));
    return sweep(branch, folder);
}

// Temporary names of a run that was killed. Large files that can be gone on with stay until the folder is finished.
Result<> CopyWalk::sweep(const BranchRef& branch, sys::Folder& folder) {
    FB_TRY_ASSIGN(names, temporaries_in(context_, folder));
    std::vector<std::string> useless;
    for (const auto& name : names) {
        const bool goes_on =
            names.contains(parts_name(name)) ||
            (name.ends_with(parts_name("")) && names.contains(name.substr(0, name.size() - parts_name("").size())));
        (goes_on ? branch->leftovers : useless).push_back(name);
    }
    branch->was_changed = branch->was_changed || !names.empty();
    return remove_names(folder, useless);
}

// Of the one name that is meant: the folder may have a million others.
Result<> CopyWalk::find_leftovers(const BranchRef& branch, sys::Folder& folder) {
    return branch->wished->names_below(".", [&](const std::string& name) {
        const auto temporary = context_.temporary_name(name);
        if (folder.status_of(parts_name(temporary))) branch->leftovers = {temporary, parts_name(temporary)};
        else static_cast<void>(folder.remove(temporary));
        return Result<>();
    });
}

void CopyWalk::finish(const BranchRef& branch) {
    if (!branch->was_entered) return;
    const auto take_back = [&] {
        if (branch->seen.lent_permissions == 0) return;
        if (const auto target = context_.folders.get(branch, TreeSide::target))
            static_cast<void>(take_back_lent(*branch, **target));
    };
    if (context_.share.is_stopped()) return take_back();
    if (!context_.is_of_others(*branch)) context_.tell_flags(*branch, "", branch->status(TreeSide::source));
    if (auto finished = context_.options.is_dry ? would_finish(branch) : try_finish(branch); !finished) {
        context_.report(branch, "", finished.error());
        const auto target = context_.folders.get(branch, TreeSide::target);
        const auto now = target ? (*target)->status() : target.error();
        if (now && now->permissions == branch->status(TreeSide::target).permissions) take_back();
    }
}

Result<> CopyWalk::would_finish(const BranchRef& branch) {
    FB_TRY_ASSIGN(target, context_.target_folder(branch));
    auto* asked = context_.target_of({.branch = branch, .target = target});
    if (asked == nullptr || context_.is_of_others(*branch) || context_.keeps_attributes(*branch)) return {};
    const auto& own = branch->status(TreeSide::target);
    Held held{.user = own.user, .group = own.group};
    if (!target) held = {.user = context_.owner.user, .group = context_.owner.group};
    AttributeSource attributes;
    FB_TRY_ASSIGN(source, context_.folders.get(branch, TreeSide::source));
    if (context_.options.preserve.attributes) {
        FB_TRY_ASSIGN(wanted, attributes_of(*source));
        attributes = std::move(wanted);
    }
    return foresee(context_, path_of(*branch), *asked, branch->status(TreeSide::source), held, attributes);
}

Result<> CopyWalk::try_finish(const BranchRef& branch) {
    FB_TRY_ASSIGN(target, context_.folders.get(branch, TreeSide::target));
    if (branch->had_loss) {  // all is done here: what is left is of a process that was lost
        FB_TRY_ASSIGN(names, temporaries_in(context_, *target));
        FB_TRY(remove_names(*target, names));
    }
    FB_TRY(remove_names(*target, branch->leftovers));  // nobody went on with them: their sources are gone
    if (context_.is_of_others(*branch)) return {};
    const auto& status = branch->status(TreeSide::source);
    const auto& own = branch->status(TreeSide::target);
    if (context_.keeps_attributes(*branch)) {
        FB_TRY(take_back_lent(*branch, *target));
        const bool may_set = context_.owner.user == 0 || context_.owner.user == own.user;
        return branch->was_changed && may_set ? target->set_times(own.accessed, own.modified) : Result<>();
    }
    Held held{.user = own.user, .group = own.group, .permissions = own.permissions};
    held.umask = context_.owner.umask;
    held.is_new = branch->is_new;
    held.times = !branch->was_made && !branch->was_changed && is_same_time(status, own);
    AttributeSource attributes;
    FolderRef source;
    if (context_.options.preserve.attributes) {
        FB_TRY_ASSIGN(opened, context_.folders.get(branch, TreeSide::source));
        source = opened;
        FB_TRY_ASSIGN(wanted, attributes_of(*source));
        attributes = std::move(wanted);
        if (!branch->was_made) {
            FB_TRY_ASSIGN(old_names, target->attribute_names());
            held.attributes = std::move(old_names);
            drop_those_of_file_system(held.attributes);
        }
    }
    const auto settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return done ? done : context_.settle(path_of(*branch), status, part, value, std::move(done));
    };
    FB_TRY(give_attributes(status, attributes, *target, held, context_.options.preserve, settle));
    if (context_.options.preserve.permissions) return {};
    if (branch->is_new && !context_.options.filter.include.empty()) {  // an ACL that was given has left the mark
        FB_TRY_ASSIGN(now, target->status());
        if ((now.permissions & sticky_bit) != 0) FB_TRY(target->set_permissions(now.permissions & ~sticky_bit));
    }
    if (branch->seen.lent_permissions == 0) return {};
    if (const auto& names = attributes.names; std::ranges::find(names, access_acl) != names.end()) {
        FB_TRY_ASSIGN(given, target->attribute_names());
        if (std::ranges::find(given, access_acl) != given.end()) return {};  // it has the last word
    }
    FB_TRY(take_back_lent(*branch, *target));
    return target->keep_set();
}

}  // namespace forebay::tree
