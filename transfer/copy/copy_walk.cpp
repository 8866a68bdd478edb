#include "transfer/copy/copy_walk.hpp"

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/walk/unnamed.hpp"

namespace forebay::tree {

namespace {

// If a target directory is mounted in the source, a copy would copy itself again and again.
Result<> check_no_copy(const DirNode& dir_node) {
    for (const auto* at = dir_node.parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::target).id == dir_node.status(TreeSide::source).id)
            return Error{ErrorKind::refused, "the copy of " + path_of(*at) + " is mounted in the source here"};
    return {};
}

// A directory of the source that the target reaches by another path must not be filled or emptied.
Result<> check_no_source(const DirNode& dir_node) {
    for (const auto* at = &dir_node; at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == dir_node.status(TreeSide::target).id)
            return Error{ErrorKind::refused, "the target has the source's " + path_of(*at) + " itself there"};
    return {};
}

}  // namespace

Result<DirNodeRef> CopyWalk::open_root(FolderRef source, const FolderRef& target, bool was_made, bool is_first) {
    const auto root = std::make_shared<DirNode>(nullptr, "");
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
        CaseFoldNames::of(*root, *target);
        if (is_first) {
            root->seen.is_untouched = use_.freshness.is_untouched(*root);
            if (!use_.options.is_dry) FB_TRY(use_.folder_maker.prepare(root, *target));
        }
    }
    return root;
}

Result<> CopyWalk::run(const DirNodeRef& root, bool is_first) {
    FB_TRY(use_.naming.run([&](TreeWorker& worker) {
        if (!is_first) return;
        if (auto listed = list(worker, root); !listed) use_.failures.report(root, "", listed.error());
        use_.dir_node_ends.done_in(root);
    }));
    return use_.failures.fatal();
}

void CopyWalk::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (auto entered = try_enter(worker, dir_node); !entered) use_.failures.report(dir_node, "", entered.error());
    use_.dir_node_ends.done_in(dir_node);
}

Result<> CopyWalk::try_enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (dir_node->parent->had_loss) dir_node->had_loss = true;  // the lost process may have worked here, too
    FB_TRY_ASSIGN(above, use_.folders.get(dir_node->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
    const FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(TreeSide::source) = status;
    if (status.id == target_root_) {
        if (use_.options.removes_extra)
            return Error{ErrorKind::refused, "it is the target itself: a removal there would lose data here"};
        use_.entry_log.add(EntryEvent::skipped, path_of(*dir_node), "it is the target itself");
        return {};
    }
    FB_TRY(check_no_loop(*dir_node));
    FB_TRY(check_no_copy(*dir_node));
    use_.folders.keep(dir_node, TreeSide::source, folder);
    if (auto entered = use_.folder_maker.enter(dir_node); !entered) return of_target(entered.error());
    const bool is_left = use_.options.one_file_system && is_other_file_system(status, device_);
    if (!is_left) FB_TRY(check_no_source(*dir_node));
    dir_node->seen.is_untouched = !dir_node->was_made && use_.freshness.is_untouched(*dir_node);
    dir_node->was_entered = true;
    ++use_.counts.folders;
    if (is_left) {
        use_.entry_log.add(EntryEvent::skipped, path_of(*dir_node), "another file system is mounted there");
        return {};
    }
    return list(worker, dir_node);
}

Result<> CopyWalk::list(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(folder, use_.folders.get(dir_node, TreeSide::source));
    const auto listed = list_in_batches(
        worker, dir_node, *folder,
        [this](TreeWorker& other, const DirNodeRef& of, const NameBatch& batch) { copy_batch(other, of, batch); },
        [this](const DirNodeRef& of) { use_.dir_node_ends.done_in(of); });
    if (!listed && listed.error().kind != ErrorKind::unsupported) return listed;
    if (!listed)
        report_unlisted(*dir_node, *folder, listed.error(),
                        [this](const std::string& path, const Error& error) { use_.failures.report(path, error); });
    if (dir_node->named == nullptr) return {};
    return dir_node->named->names_below(path_of(*dir_node), [&](const std::string& name) -> Result<> {
        const auto status = folder->status_of(name);
        if (!status) use_.failures.report(dir_node, name, status.error());
        else if (status->kind != sys::EntryKind::folder) FB_TRY(tell_wished_below(*dir_node, name, status->kind));
        return {};
    });
}

Result<bool> CopyWalk::tell_wished_below(const DirNode& dir_node, const std::string& name, sys::EntryKind kind) {
    const auto path = path_of(dir_node, name);
    auto* list = dir_node.wished != nullptr ? dir_node.wished : dir_node.named;
    FB_TRY_ASSIGN(wish, list->wish_of(path));
    const auto* next = kind == sys::EntryKind::link ? ", and a copy follows no link: give the real path" : "";
    if (wish.has_below)
        FB_TRY(list->names_below(path, [&](const std::string& below) {
            use_.failures.report(path + "/" + below, {ErrorKind::refused, fmt::format("{} is a {}{}", show_text(path),
                                                                                      word_of(kind), next)});
            return Result<>();
        }));
    return wish.is_whole;
}

void CopyWalk::copy_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch) {
    CopyEntry entry{.dir_node = dir_node};
    const auto opened = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, use_.folders.get(dir_node, TreeSide::source));
        entry.source = source;
        if (use_.options.is_dry && dir_node->was_made) return {};  // not made in a dry run
        FB_TRY_ASSIGN(target, use_.folders.get(dir_node, TreeSide::target));
        entry.target = target;
        return {};
    }();
    if (!opened) return use_.failures.report(dir_node, "", opened.error());
    for (const auto& named : batch) {
        if (worker.share->is_stopped()) return;
        entry.name = named.name;
        if (auto copied = copy_named(worker, entry, named); !copied)
            use_.failures.report(dir_node, entry.name, copied.error());
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
    const auto& dir_node = entry.dir_node;
    if (!use_.options.filter.takes(*dir_node, named.name, kind)) return CopyStep::done;
    // Its copy would collide with an entry that has no final name yet.
    if (use_.names.is_temporary(named.name))
        return Error{ErrorKind::refused, "the copy uses such names for incomplete files: it is not copied"};
    if (kind == sys::EntryKind::folder) {
        const auto child = std::make_shared<DirNode>(dir_node, named.name);
        FB_TRY(take_wish(*child));
        add_folder(worker, child);
        return CopyStep::later;
    }
    if (dir_node->wished != nullptr) {
        FB_TRY_ASSIGN(is_meant, tell_wished_below(*dir_node, named.name, kind));
        if (!is_meant) return CopyStep::done;
    }
    tell_run(use_.entry_log, use_.options.is_run, *dir_node, named.name);
    if (!use_.options.filter.include.empty()) note_wanted(dir_node.get());
    return use_.copier.copy(worker, entry, kind, named.number);
}

void CopyWalk::add_folder(TreeWorker& worker, const DirNodeRef& child) {
    ++child->parent->pending;
    worker.share->add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                      {.dir_node = child->parent, .name = child->name});
}

}  // namespace forebay::tree
