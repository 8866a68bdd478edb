#include "transfer/copy/replace_folders.hpp"

#include "core/base/try.hpp"
#include "transfer/compare/checksums.hpp"
#include "transfer/remove/extra.hpp"
#include "transfer/remove/remove.hpp"

namespace forebay::tree {

// A target directory is removed whole or not at all, and only for a readable source entry: otherwise neither would
// exist.
Result<CopyStep> FolderReplacer::check_replaceable(const EntryPlace& place) {
    FB_TRY_ASSIGN(holds,
                  holds_left_out(use_.folders, TreeSide::target, place.dir_node, place.name, use_.options.filter));
    if (holds)
        return Error{ErrorKind::refused,
                     "the target has a directory in its place, with entries that your patterns exclude"};
    if (use_.options.is_dry) return CopyStep::done;
    FB_TRY_ASSIGN(source, use_.folders.get(place.dir_node, TreeSide::source));
    FB_TRY_ASSIGN(status, source->status_of(place.name));
    if (status.kind != sys::EntryKind::file) return CopyStep::done;
    FB_TRY_ASSIGN(is_left, use_.stored.leaves(*place.dir_node, source.get(), nullptr, place.name, use_.entry_log));
    if (is_left) return CopyStep::reported;
    FB_TRY_ASSIGN(file, source->open_file(place.name));
    // Reading the whole file proves that it is readable.
    std::vector<std::byte> buffer;
    FB_TRY(sum_of(*file, place.name, buffer));
    return CopyStep::done;
}

void FolderReplacer::spare(const Places& places, const std::string& why) {
    for (const auto& place : places)
        use_.entry_log.add(EntryEvent::failed, path_of(*place.dir_node, place.name),
                           "the target has a directory in its place, and " + why);
}

Result<> FolderReplacer::remove(const DirNodeRef& root, const Places& places, EntryLog& entry_log, bool is_dry,
                                Amount& would) {
    FB_TRY_ASSIGN(source, use_.folders.get(root, TreeSide::source));
    FB_TRY_ASSIGN(mounts, source->mounts_below());
    TreeRemover remover({.folders = use_.folders,
                         .entry_log = entry_log,
                         .removed = use_.counts.removed,
                         .is_dry = is_dry,
                         .would_remove = &would,
                         .protected_entries = ids_of_source(root->status(TreeSide::source).id, mounts),
                         .filter = &use_.options.filter,
                         .lends_to = use_.new_entries.owner().user},
                        TreeSide::target);
    return use_.share.run([&](TreeWorker& worker) {
        for (const auto& place : places) remover.add_folder(worker, place.dir_node, place.name);
    });
}

Result<bool> FolderReplacer::count_removals(const DirNodeRef& root, const Places& places) {
    if (use_.options.removed_max == UINT64_MAX || use_.options.is_dry) return false;
    EntryLog unsaid;
    Amount would;
    FB_TRY(remove(root, places, unsaid, true, would));
    FB_TRY_ASSIGN(source, use_.folders.get(root, TreeSide::source));
    FB_TRY_ASSIGN(target, use_.folders.get(root, TreeSide::target));
    FB_TRY_ASSIGN(mounts, source->mounts_below());
    FB_TRY_ASSIGN(extra, count_extra(source, target, {mounts, {}}, use_.options, unsaid));
    const auto all = use_.counts.removed + would.entries + extra;
    use_.counts.not_removed = too_many_removed(use_.options, all, unsaid);
    return !use_.counts.not_removed.empty();
}

Result<> FolderReplacer::run() {
    auto places = use_.deferred.take();
    if (places.empty()) return {};
    if (use_.entry_log.has_errors()) {
        spare(places, "after errors nothing is removed");
        return {};
    }
    std::erase_if(places, [this](const EntryPlace& place) {
        const auto checked = check_replaceable(place);
        if (!checked) use_.failures.report(place.dir_node, place.name, checked.error());
        return !checked || *checked != CopyStep::done;
    });
    if (places.empty()) return {};
    auto root = places.front().dir_node;
    while (root->parent) root = root->parent;
    std::set<DirNodeRef> dir_nodes;
    // Never released, so that a finished node is not finished again by the work below.
    for (const auto& place : places)
        if (dir_nodes.insert(place.dir_node).second) ++place.dir_node->pending;
    FB_TRY_ASSIGN(too_many, count_removals(root, places));
    if (too_many) {
        spare(places, use_.counts.not_removed);
        return {};
    }
    if (!use_.options.is_dry)
        std::erase_if(dir_nodes, [&](const DirNodeRef& dir_node) {
            const auto temporary = use_.folder_maker.chmod_again(dir_node);
            if (!temporary) use_.failures.report(dir_node, "", of_target(temporary.error()));
            if (!temporary) std::erase_if(places, [&](const EntryPlace& place) { return place.dir_node == dir_node; });
            return !temporary;
        });
    FB_TRY(remove(root, places, use_.entry_log, use_.options.is_dry, use_.counts.would_remove));
    FB_TRY(copy_in_place(places));
    if (use_.options.is_dry) return use_.failures.fatal();
    for (const auto& dir_node : dir_nodes) {
        dir_node->was_changed = true;
        use_.folder_maker.finish(dir_node);
    }
    return use_.failures.fatal();
}

Result<> FolderReplacer::copy_in_place(const Places& places) {
    use_.deferred.note_cleared();
    FB_TRY(use_.naming.run([&](TreeWorker& worker) {
        for (const auto& place : places) use_.walk.copy_batch(worker, place.dir_node, {{.name = place.name}});
    }));
    for (const auto& place : use_.deferred.take())
        use_.entry_log.add(EntryEvent::failed, path_of(*place.dir_node, place.name),
                           "at the target, a directory is in its place, with entries that could not be removed");
    return {};
}

}  // namespace forebay::tree
