// Walks the source and makes each directory at the target: closed to other users while it is filled. It gets its
// attributes when all below it is done.

#pragma once

#include "transfer/copy/copy_entry.hpp"
#include "transfer/copy/copy_folder.hpp"
#include "transfer/walk/name_batch.hpp"

namespace forebay::tree {

class CopyWalk {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        CopyCounts& counts;
        OpenFolders& folders;
        const Freshness& freshness;
        const TemporaryNames& names;
        FolderMaker& folder_maker;
        EntryCopier& copier;
        Naming& naming;
        DataFlow& flow;
        Failures& failures;
        DirNodeEnds& dir_node_ends;
    };
    explicit CopyWalk(const Uses& uses) : use_(uses) {}

    /// For two open roots; in a dry run the target's may be missing. In a group only the coordinator (`is_first`)
    /// prepares the root.
    Result<DirNodeRef> open_root(FolderRef source, const FolderRef& target, bool was_made, bool is_first);
    /// Copies everything in the root; a worker copies only its work items.
    Result<> run(const DirNodeRef& root, bool is_first);
    /// Copies a listed directory with all below it.
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    void copy_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch);

private:
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> list(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<CopyStep> copy_named(TreeWorker& worker, CopyEntry& entry, const ListedName& named);
    void add_folder(TreeWorker& worker, const DirNodeRef& child);
    /// For a name that is no directory: reports listed paths below it. Returns false if the list lacks the name itself.
    Result<bool> tell_wished_below(const DirNode& dir_node, const std::string& name, sys::EntryKind kind);

    const Uses use_;
    sys::EntryId target_root_;
    std::uint64_t device_ = 0;  // device of the source's root
};

}  // namespace forebay::tree
