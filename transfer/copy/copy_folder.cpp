#include "transfer/copy/copy_folder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/copy/precheck.hpp"

namespace forebay::tree {

namespace {

Result<bool> has_no_entry(sys::Folder& folder) {
    bool is_empty = true;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) {
        is_empty = is_empty && names.empty();
        return Result<>();
    }));
    return is_empty;
}

// The temporary names whose entry has its final name too. A rename that was cut on DAOS leaves both, and a removal of
// either removes the bytes.
template <class Names>
Result<std::set<std::string>> names_of_others(sys::Folder& folder, const Names& names) {
    std::set<std::string> kept;
    FB_TRY_ASSIGN(traits, folder.file_system());
    if (!traits.cuts_renames) return kept;
    std::map<sys::EntryId, std::string> temporaries;
    for (const auto& name : names)
        if (const auto status = folder.status_of(name); status && status->names == 1) temporaries[status->id] = name;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
        for (const auto& entry : listed) {
            const std::string name(entry.name);
            if (std::ranges::find(names, name) != names.end()) continue;
            const auto status = folder.status_of(name);
            if (!status && status.error().kind == ErrorKind::missing) continue;
            FB_TRY(status);
            if (const auto match = temporaries.find(status->id); match != temporaries.end()) kept.insert(match->second);
        }
        return {};
    }));
    return kept;
}

// A missing name is no error.
template <class Names>
Result<> remove_names(sys::Folder& folder, const Names& names) {
    if (names.empty()) return {};
    FB_TRY_ASSIGN(kept, names_of_others(folder, names));
    for (const auto& name : names) {
        if (kept.contains(name)) continue;
        if (auto removed = folder.remove(name); !removed && removed.error().kind != ErrorKind::missing) return removed;
    }
    return {};
}

}  // namespace

Result<std::set<std::string>> FolderMaker::temporaries_in(sys::Folder& folder) const {
    std::set<std::string> names;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
        for (const auto& entry : listed)
            if (use_.names.is_temporary(entry.name)) names.emplace(entry.name);
        return {};
    }));
    return names;
}

// For an entry, not a directory, in the place of the new directory `dir_node`.
Result<> FolderMaker::check_is_meant(const DirNode& dir_node, sys::EntryKind kind) const {
    if (use_.options.filter.takes(*dir_node.parent, dir_node.name, kind)) return {};
    return Error{ErrorKind::refused, "an entry that your patterns exclude is in its place"};
}

Result<> FolderMaker::enter(const DirNodeRef& dir_node) {
    if (use_.options.is_dry) return enter_dry(dir_node);
    FB_TRY_ASSIGN(above, use_.folders.get(dir_node->parent, TreeSide::target));
    FB_TRY_ASSIGN(folder, make_folder(dir_node, *above));
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(TreeSide::target) = status;
    use_.folders.keep(dir_node, TreeSide::target, folder);
    CaseFoldNames::of(*dir_node, *folder);
    if (dir_node->was_made) {
        dir_node->parent->was_changed = true;
        use_.new_entries.look_at_new_folder(status, dir_node->parent->status(TreeSide::target));
    }
    return prepare(dir_node, *folder);
}

Result<> FolderMaker::prepare(const DirNodeRef& dir_node, sys::Folder& target) {
    give_layout(dir_node, target);
    return prepare_target(dir_node, target);
}

void FolderMaker::give_layout(const DirNodeRef& dir_node, sys::Folder& target) {
    const auto given = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, use_.folders.get(dir_node, TreeSide::source));
        auto done = use_.layouts.give_folder(*dir_node, *source, target);
        if (done) return done;
        return use_.losses.settle(path_of(*dir_node), dir_node->status(TreeSide::source), "layout of new files", "",
                                  std::move(done));
    }();
    if (!given) use_.failures.report(path_of(*dir_node), given.error());
}

// The existing entry may have another spelling. A new directory would get that entry's name.
Result<> FolderMaker::claim_folder(const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(above, use_.folders.get(dir_node->parent, TreeSide::target));
    if (CaseFoldNames::of(*dir_node->parent, *above) == nullptr) return {};
    FB_TRY_ASSIGN(source, use_.folders.get(dir_node->parent, TreeSide::source));
    const auto existing = above->status_of(dir_node->name);
    if (!existing) return {};  // the caller that needs it reports the error
    return use_.lookup.claim_name({dir_node->parent, source, above, dir_node->name}, *existing);
}

Result<FolderRef> FolderMaker::make_folder(const DirNodeRef& dir_node, sys::Folder& above) {
    auto folder = above.make_folder(dir_node->name, use_.new_entries.folder_permissions());
    const bool has_replaced = !folder;
    if (!folder && folder.error().kind == ErrorKind::refused) {
        FB_TRY(claim_folder(dir_node));
        auto existing = above.open_folder(dir_node->name);
        if (existing) return FolderRef(std::move(*existing));
        // An existing link or file is replaced. A directory that cannot be opened stays.
        const auto status = above.status_of(dir_node->name);
        if (!status) return status.error().kind == ErrorKind::missing ? folder.error() : status.error();
        if (status->kind == sys::EntryKind::folder) return existing.error();
        FB_TRY(check_is_meant(*dir_node, status->kind));
        // The failed record ends the whole copy with its own error; `retry` marks this entry as cut off.
        if (use_.publisher.check_recorded() != CopyStep::done)
            return Error{ErrorKind::retry, "the replaced entry cannot be recorded"};
        FB_TRY(above.remove(dir_node->name));
        folder = above.make_folder(dir_node->name, use_.new_entries.folder_permissions());
    }
    FB_TRY(folder);
    dir_node->is_new = true;
    dir_node->was_made = true;
    use_.publisher.record(has_replaced ? EntryEvent::replaced : EntryEvent::copied, *dir_node->parent, dir_node->name);
    FB_TRY_ASSIGN(opened, above.open_folder(dir_node->name));
    use_.new_entries.mark_unfinished(*opened);
    return FolderRef(std::move(opened));
}

Result<> FolderMaker::enter_dry(const DirNodeRef& dir_node) {
    bool is_other = false;
    if (!dir_node->parent->was_made) {
        FB_TRY_ASSIGN(above, use_.folders.get(dir_node->parent, TreeSide::target));
        FB_TRY(claim_folder(dir_node));
        auto opened = above->open_folder(dir_node->name);
        if (opened) {
            FB_TRY_ASSIGN(status, (*opened)->status());
            dir_node->status(TreeSide::target) = status;
            use_.folders.keep(dir_node, TreeSide::target, std::move(*opened));
            return {};
        }
        if (opened.error().kind != ErrorKind::missing && opened.error().kind != ErrorKind::refused)
            return opened.error();
        const auto status = above->status_of(dir_node->name);
        is_other = status.has_value();
        if (status && status->kind == sys::EntryKind::folder) return opened.error();  // this user may not open it
        if (status) FB_TRY(check_is_meant(*dir_node, status->kind));
    }
    dir_node->was_made = true;  // in a real run
    (is_other ? use_.counts.would_replace : use_.counts.would_copy).add(0);
    use_.entry_log.add(EntryEvent::would_copy, path_of(*dir_node),
                       is_other ? "it is of another kind" : "the target does not have the directory");
    return {};
}

// An existing directory may have a default ACL, or permissions that keep even its owner from filling it.
Result<> FolderMaker::prepare_target(const DirNodeRef& dir_node, sys::Folder& folder) {
    const auto& status = dir_node->status(TreeSide::target);
    const bool inherits = dir_node->was_made && dir_node->parent && dir_node->parent->seen.gives_acl;
    if (dir_node->was_made && !inherits && dir_node->parent) return {};
    if (dir_node->was_made) {
        FB_TRY_ASSIGN(names, folder.attribute_names());
        for (const auto* acl : {default_acl, access_acl})  // many file systems have no ACLs to remove
            if (std::ranges::find(names, acl) != names.end()) FB_TRY(folder.remove_attribute(acl));
        return {};
    }
    FB_TRY_ASSIGN(gives_acl, has_default_acl(folder));
    dir_node->seen.gives_acl = gives_acl;
    if (is_of_others(*dir_node)) return find_leftovers(dir_node, folder);
    if (use_.new_entries.is_unfinished(status)) dir_node->is_new = true;  // left by a killed run
    if (use_.new_entries.may_be_unmarked(status)) {
        FB_TRY_ASSIGN(is_empty, has_no_entry(folder));
        dir_node->is_new = is_empty;
    }
    FB_TRY(lend_permissions(*dir_node, folder, use_.new_entries.owner().user));
    return sweep(dir_node, folder);
}

// Removes temporary names of a killed run. Large files that can be continued stay until the directory is finished.
Result<> FolderMaker::sweep(const DirNodeRef& dir_node, sys::Folder& folder) {
    FB_TRY_ASSIGN(names, temporaries_in(folder));
    std::vector<std::string> useless;
    for (const auto& name : names) {
        const bool goes_on =
            names.contains(parts_name(name)) ||
            (name.ends_with(parts_name("")) && names.contains(name.substr(0, name.size() - parts_name("").size())));
        (goes_on ? dir_node->leftovers : useless).push_back(name);
    }
    dir_node->was_changed = dir_node->was_changed || !names.empty();
    return remove_names(folder, useless);
}

// Looks for only one name: the directory may have a million others.
Result<> FolderMaker::find_leftovers(const DirNodeRef& dir_node, sys::Folder& folder) {
    return dir_node->wished->names_below(".", [&](const std::string& name) {
        const auto temporary = use_.names.name_for(name);
        if (folder.status_of(parts_name(temporary))) dir_node->leftovers = {temporary, parts_name(temporary)};
        else static_cast<void>(folder.remove(temporary));
        return Result<>();
    });
}

void FolderMaker::finish(const DirNodeRef& dir_node) {
    if (!dir_node->was_entered) return;
    const auto take_back = [&] {
        if (dir_node->seen.temporary_chmod == 0) return;
        if (const auto target = use_.folders.get(dir_node, TreeSide::target))
            static_cast<void>(take_back_chmod(*dir_node, **target));
    };
    // After a stop the entry is unfinished. Only the temporary chmod is undone.
    if (use_.share.is_stopped()) return take_back();
    if (!is_of_others(*dir_node)) tell_flags(use_.entry_log, *dir_node, "", dir_node->status(TreeSide::source));
    if (auto finished = use_.options.is_dry ? would_finish(dir_node) : try_finish(dir_node); !finished) {
        use_.failures.report(dir_node, "", finished.error());
        const auto target = use_.folders.get(dir_node, TreeSide::target);
        // Another process may have changed the mode meanwhile. Then it stays.
        const auto now = target ? (*target)->status() : target.error();
        if (now && now->permissions == dir_node->status(TreeSide::target).permissions) take_back();
    }
}

Result<> FolderMaker::would_finish(const DirNodeRef& dir_node) {
    FolderRef target;
    if (!dir_node->was_made) {
        FB_TRY_ASSIGN(folder, use_.folders.get(dir_node, TreeSide::target));
        target = folder;
    }
    auto* asked = target ? target.get() : use_.asked.get();
    if (asked == nullptr || is_of_others(*dir_node) || use_.new_entries.keeps_attributes(*dir_node)) return {};
    const auto& own = dir_node->status(TreeSide::target);
    Held held{.user = own.user, .group = own.group};
    if (!target) held = {.user = use_.new_entries.owner().user, .group = use_.new_entries.owner().group};
    AttributeSource attributes;
    FB_TRY_ASSIGN(source, use_.folders.get(dir_node, TreeSide::source));
    if (use_.options.preserve.attributes) {
        FB_TRY_ASSIGN(wanted, attributes_of(*source));
        attributes = std::move(wanted);
    }
    return precheck(use_.losses, use_.options.preserve, path_of(*dir_node), *asked, dir_node->status(TreeSide::source),
                    held, attributes);
}

Result<> FolderMaker::try_finish(const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(target, use_.folders.get(dir_node, TreeSide::target));
    FB_TRY(remove_leftovers(*dir_node, *target));
    if (is_of_others(*dir_node)) return {};
    const auto& own = dir_node->status(TreeSide::target);
    if (use_.new_entries.keeps_attributes(*dir_node)) {
        FB_TRY(take_back_chmod(*dir_node, *target));
        const bool may_set = use_.new_entries.owner().user == 0 || use_.new_entries.owner().user == own.user;
        return dir_node->was_changed && may_set ? target->set_times(own.accessed, own.modified) : Result<>();
    }
    return give_all(dir_node, *target);
}

Result<> FolderMaker::remove_leftovers(DirNode& dir_node, sys::Folder& target) {
    if (dir_node.had_loss) {  // all work here is done, so the rest belongs to a lost process
        FB_TRY_ASSIGN(names, temporaries_in(target));
        FB_TRY(remove_names(target, names));
    }
    return remove_names(target, dir_node.leftovers);  // no thread continued them: their sources are gone
}

Result<> FolderMaker::give_all(const DirNodeRef& dir_node, sys::Folder& target) {
    const auto& status = dir_node->status(TreeSide::source);
    const auto& own = dir_node->status(TreeSide::target);
    Held held{.user = own.user, .group = own.group, .permissions = own.permissions};
    held.umask = use_.new_entries.owner().umask;
    held.is_new = dir_node->is_new;
    held.times = !dir_node->was_made && !dir_node->was_changed && is_same_time(status, own);
    AttributeSource attributes;
    FolderRef source;
    if (use_.options.preserve.attributes) {
        FB_TRY_ASSIGN(opened, use_.folders.get(dir_node, TreeSide::source));
        source = opened;
        FB_TRY_ASSIGN(wanted, attributes_of(*source));
        attributes = std::move(wanted);
        if (!dir_node->was_made) {
            FB_TRY_ASSIGN(old_names, target.attribute_names());
            held.attributes = std::move(old_names);
            drop_those_of_file_system(held.attributes);
        }
    }
    const auto settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return done ? done : use_.losses.settle(path_of(*dir_node), status, part, value, std::move(done));
    };
    FB_TRY(give_attributes(status, attributes, target, held, use_.options.preserve, settle));
    if (use_.options.preserve.permissions) return {};
    if (dir_node->is_new && use_.new_entries.has_marks()) {  // a given ACL leaves the mark
        FB_TRY_ASSIGN(now, target.status());
        if ((now.permissions & sticky_bit) != 0) FB_TRY(target.set_permissions(now.permissions & ~sticky_bit));
    }
    if (dir_node->seen.temporary_chmod == 0) return {};
    if (const auto& names = attributes.names; std::ranges::find(names, access_acl) != names.end()) {
        FB_TRY_ASSIGN(given, target.attribute_names());
        if (std::ranges::find(given, access_acl) != given.end()) return {};  // the ACL decides the permissions
    }
    FB_TRY(take_back_chmod(*dir_node, target));
    return target.keep_set();
}

// A finished target directory has its source's permissions, so it gets the temporary chmod again.
Result<> FolderMaker::chmod_again(const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(target, use_.folders.get(dir_node, TreeSide::target));
    FB_TRY_ASSIGN(now, target->status());
    FB_TRY_ASSIGN(gives_acl, has_default_acl(*target));
    dir_node->status(TreeSide::target) = now;
    dir_node->seen.gives_acl = gives_acl;
    dir_node->seen.temporary_chmod = 0;
    return lend_permissions(*dir_node, *target, use_.new_entries.owner().user);
}

}  // namespace forebay::tree
