#include "transfer/copy/copy_walk.hpp"

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/copy/copy_remarks.hpp"
#include "transfer/walk/unnamed.hpp"

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
    use_.folders.keep(root, TreeSide::source, std::move(source));
    root->is_new = was_made;
    root->was_made = was_made;
    root->was_entered = true;
    FB_TRY(take_wish(*root, use_.options.wished.get()));
    if (target) {
        FB_TRY_ASSIGN(target_status, target->status());
        root->status(TreeSide::target) = target_status;
        target_root_ = target_status.id;
        use_.folders.keep(root, TreeSide::target, target);
        Spellings::of(*root, *target);
        if (is_first) {
            root->seen.is_untouched = use_.freshness.is_untouched(*root);
            if (!use_.options.is_dry) FB_TRY(use_.folder_maker.prepare(root, *target));
        }
    }
    return root;
}

Result<> CopyWalk::run(const BranchRef& root, bool is_first) {
    FB_TRY(use_.naming.run([&](TreeWorker& worker) {
        if (!is_first) return;
        if (auto listed = list(worker, root); !listed) use_.failures.report(root, "", listed.error());
        use_.branch_ends.done_in(root);
    }));
    return use_.failures.fatal();
}

void CopyWalk::enter(TreeWorker& worker, const BranchRef& branch) {
    if (auto entered = try_enter(worker, branch); !entered) use_.failures.report(branch, "", entered.error());
    use_.branch_ends.done_in(branch);
}

Result<> CopyWalk::try_enter(TreeWorker& worker, const BranchRef& branch) {
    if (branch->parent->had_loss) branch->had_loss = true;  // whoever was lost may have been at work here, too
    FB_TRY_ASSIGN(above, use_.folders.get(branch->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(branch->name));
    const FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    branch->status(TreeSide::source) = status;
    if (status.id == target_root_) {
        if (use_.options.removes_extra)
            return Error{ErrorKind::refused, "it is the target itself: what is removed there would be lost here"};
        use_.remarks.add(RemarkKind::passed_over, path_of(*branch), "it is the target itself");
        return {};
    }
    FB_TRY(check_no_loop(*branch));
    FB_TRY(check_no_copy(*branch));
    use_.folders.keep(branch, TreeSide::source, folder);
    if (auto entered = use_.folder_maker.enter(branch); !entered) return of_target(entered.error());
    const bool is_left = use_.options.one_file_system && is_other_file_system(status, device_);
    if (!is_left) FB_TRY(check_no_source(*branch));
    branch->seen.is_untouched = !branch->was_made && use_.freshness.is_untouched(*branch);
    branch->was_entered = true;
    ++use_.counts.folders;
    if (is_left) {
        use_.remarks.add(RemarkKind::passed_over, path_of(*branch), "another file system is mounted there");
        return {};
    }
    return list(worker, branch);
}

Result<> CopyWalk::list(TreeWorker& worker, const BranchRef& branch) {
    FB_TRY_ASSIGN(folder, use_.folders.get(branch, TreeSide::source));
    const auto listed = list_in_portions(
        worker, branch, *folder,
        [this](TreeWorker& other, const BranchRef& of, const Portion& portion) { copy_portion(other, of, portion); },
        [this](const BranchRef& of) { use_.branch_ends.done_in(of); });
    if (!listed && listed.error().kind != ErrorKind::unsupported) return listed;
    if (!listed)
        report_unlisted(*branch, *folder, listed.error(),
                        [this](const std::string& path, const Error& error) { use_.failures.report(path, error); });
    if (branch->named == nullptr) return {};
    return branch->named->names_below(path_of(*branch), [&](const std::string& name) -> Result<> {
        const auto status = folder->status_of(name);
        if (!status) use_.failures.report(branch, name, status.error());
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
            use_.failures.report(path + "/" + below, {ErrorKind::refused, fmt::format("{} is a {}{}", show_text(path),
                                                                                      word_of(kind), next)});
            return Result<>();
        }));
    return wish.is_whole;
}

void CopyWalk::copy_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion) {
    CopyEntry entry{.branch = branch};
    const auto opened = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, use_.folders.get(branch, TreeSide::source));
        entry.source = source;
        if (use_.options.is_dry && branch->was_made) return {};  // it would be made
        FB_TRY_ASSIGN(target, use_.folders.get(branch, TreeSide::target));
        entry.target = target;
        return {};
    }();
    if (!opened) return use_.failures.report(branch, "", opened.error());
    for (const auto& named : portion) {
        if (worker.share->is_stopped()) return;
        entry.name = named.name;
        if (auto copied = copy_named(worker, entry, named); !copied)
            use_.failures.report(branch, entry.name, copied.error());
        ++use_.counts.entries;
        use_.flow.tick();
    }
}

Result<CopyStep> CopyWalk::copy_named(TreeWorker& worker, CopyEntry& entry, const ListedName& named) {
    auto kind = named.kind;
    if (kind == sys::EntryKind::unknown) {
        FB_TRY_ASSIGN(status, entry.source->status_of(named.name));
        kind = status.kind;
    }
    const auto& branch = entry.branch;
    if (!use_.options.filter.takes(*branch, named.name, kind)) return CopyStep::done;
    // Its copy would take the place of an entry that has not its name yet.
    if (use_.names.is_temporary(named.name))
        return Error{ErrorKind::refused, "this copy gives such names to what is not whole: it is not copied"};
    if (kind == sys::EntryKind::folder) {
        const auto child = std::make_shared<Branch>(branch, named.name);
        FB_TRY(take_wish(*child));
        add_folder(worker, child);
        return CopyStep::later;
    }
    if (branch->wished != nullptr) {
        FB_TRY_ASSIGN(is_meant, tell_wished_below(*branch, named.name, kind));
        if (!is_meant) return CopyStep::done;
    }
    tell_run(use_.remarks, use_.options.is_run, *branch, named.name);
    if (!use_.options.filter.include.empty()) note_wanted(branch.get());
    return use_.copier.copy(worker, entry, kind, named.number);
}

void CopyWalk::add_folder(TreeWorker& worker, const BranchRef& child) {
    ++child->parent->pending;
    worker.share->add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                      {.branch = child->parent, .name = child->name});
}

}  // namespace forebay::tree
