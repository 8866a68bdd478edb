#include "transfer/archive/make.hpp"

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/maker.hpp"
#include "transfer/archive/restore.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/walk/name_batch.hpp"

namespace forebay::archive {

namespace {

using tree::DirNodeRef;
using tree::TreeSide;
using tree::TreeWorker;

// Walks the source as a copy does.
class SourceWalk {
public:
    explicit SourceWalk(Maker& maker) : maker_(maker), parts_(maker.parts) {}

    Result<> run(tree::FolderRef source);

private:
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> list(TreeWorker& worker, const DirNodeRef& dir_node);
    void take_batch(TreeWorker& worker, const DirNodeRef& dir_node, const tree::NameBatch& batch);
    Result<sys::EntryKind> kind_of(const tree::ListedName& named, sys::Folder& folder) const;

    Maker& maker_;
    SourceParts& parts_;
    std::uint64_t device_ = 0;  // device of the root
};

Result<> SourceWalk::run(tree::FolderRef source) {
    const auto root = std::make_shared<tree::DirNode>(nullptr, "");
    FB_TRY_ASSIGN(status, source->status());
    root->status(TreeSide::source) = status;
    root->was_entered = true;
    device_ = status.id.device;
    maker_.begin(*source, status);
    parts_.folders.keep(root, TreeSide::source, std::move(source));
    FB_TRY(parts_.share.run([&](TreeWorker& worker) {
        if (auto listed = list(worker, root); !listed) parts_.failures.report(path_of(*root), listed.error());
        maker_.count_done(worker, root);
    }));
    maker_.write_rest();
    FB_TRY(parts_.failures.fatal());
    return maker_.end();
}

void SourceWalk::enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    if (auto entered = try_enter(worker, dir_node); !entered)
        parts_.failures.report(path_of(*dir_node), entered.error());
    maker_.count_done(worker, dir_node);
}

Result<> SourceWalk::try_enter(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(above, parts_.folders.get(dir_node->parent, TreeSide::source));
    FB_TRY_ASSIGN(opened, above->open_folder(dir_node->name));
    const tree::FolderRef folder = std::move(opened);
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(TreeSide::source) = status;
    FB_TRY(tree::check_no_loop(*dir_node));
    parts_.folders.keep(dir_node, TreeSide::source, folder);
    dir_node->was_entered = true;
    tree::tell_flags(parts_.entry_log, *dir_node, "", status);
    ++parts_.counts.folders;
    if (parts_.options.is_dry) parts_.counts.would_copy.add(0);
    if (parts_.options.is_dry) parts_.entry_log.add(tree::EntryEvent::would_copy, path_of(*dir_node), "");
    if (parts_.options.one_file_system && tree::is_other_file_system(status, device_)) {
        parts_.entry_log.add(tree::EntryEvent::skipped, path_of(*dir_node), "another file system is mounted there");
        return {};
    }
    return list(worker, dir_node);
}

Result<> SourceWalk::list(TreeWorker& worker, const DirNodeRef& dir_node) {
    FB_TRY_ASSIGN(folder, parts_.folders.get(dir_node, TreeSide::source));
    return tree::list_in_batches(
        worker, dir_node, *folder,
        [this](TreeWorker& other, const DirNodeRef& of, const tree::NameBatch& batch) {
            take_batch(other, of, batch);
            maker_.hold(other, of);
        },
        // Never the last that the node waits for: this thread's packet holds the node, too.
        [this](const DirNodeRef& of) { tree::count_done(of, parts_.folders, [](const DirNodeRef&) {}); });
}

Result<sys::EntryKind> SourceWalk::kind_of(const tree::ListedName& named, sys::Folder& folder) const {
    if (named.kind != sys::EntryKind::unknown) return named.kind;
    FB_TRY_ASSIGN(status, folder.status_of(named.name));
    return status.kind;
}

void SourceWalk::take_batch(TreeWorker& worker, const DirNodeRef& dir_node, const tree::NameBatch& batch) {
    const auto folder = parts_.folders.get(dir_node, TreeSide::source);
    if (!folder) return parts_.failures.report(path_of(*dir_node), folder.error());
    for (const auto& named : batch) {
        if (parts_.share.is_stopped()) return;
        const auto kind = kind_of(named, **folder);
        if (!kind) {
            parts_.failures.report(path_of(*dir_node, named.name), kind.error());
            continue;
        }
        if (!parts_.options.filter.takes(*dir_node, named.name, *kind)) continue;
        ++parts_.counts.entries;
        if (*kind != sys::EntryKind::folder) {
            tree::tell_run(parts_.entry_log, parts_.options.is_run, *dir_node, named.name);
            maker_.add(worker, {dir_node, named.name}, **folder, *kind, named.number);
            continue;
        }
        const auto child = std::make_shared<tree::DirNode>(dir_node, named.name);
        // Count first: another worker may finish the child before add() returns.
        ++dir_node->pending;
        parts_.share.add(worker, [this, child](TreeWorker& other) { enter(other, child); });
    }
}

// The source may be an unmounted file system, and the replaced file may be the only archive of it.
Result<> check_replaced(const NewArchive& archive, const std::string& path, const tree::TreeCopyOptions& options,
                        const tree::CopyCounts& counts) {
    const bool holds_any =
        counts.copied > 0 || counts.linked > 0 || (options.filter.include.empty() && counts.folders > 0);
    if (holds_any || !archive.replaces_another()) return {};
    return Error{ErrorKind::refused,
                 fmt::format("the source is empty, and the new archive would replace {}", show_text(path)), "",
                 fmt::format("mount the source. If it is meant to be empty: rm {}", show_text(path))};
}

}  // namespace

Result<> make_archive(const std::string& source, const std::string& path, bool replaces,
                      const tree::TreeCopyOptions& options, tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    FB_TRY_ASSIGN(folder, sys::open_posix_folder(source));
    SourceParts parts(options, entry_log, counts);
    std::unique_ptr<NewArchive> archive;
    if (!options.is_dry) {
        auto new_archive = NewArchive::make(path, replaces);
        if (!new_archive)
            return with_context(new_archive.error(), show_text(path) + " cannot be made: " + new_archive.error().what,
                                new_archive.error().safe, new_archive.error().next);
        archive = std::move(*new_archive);
    }
    const auto outcome = [&]() -> Result<> {
        Maker maker(parts, archive.get());
        FB_TRY(SourceWalk(maker).run(std::move(folder)));
        if (!archive) return {};
        FB_TRY(check_replaced(*archive, path, options, counts));
        FB_TRY(archive->complete(options.syncs || options.verifies));
        if (!options.verifies) return {};
        // Read from the disk, not from the cache. The kernel drops only synced pages, and complete() has synced.
        archive->file().forget_cached();
        return check_made_archive(archive->file(), options);
    }();
    if (!outcome && archive)
        return with_context(outcome.error(), outcome.error().what,
                            show_text(path) + (archive->replaces_another() ? " is as it was" : " was not made"),
                            outcome.error().next);
    FB_TRY(outcome);
    if (archive) FB_TRY(archive->publish(options.syncs));
    return entry_log.taken();
}

}  // namespace forebay::archive
