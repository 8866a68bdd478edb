// Goes down the source and makes each folder of it at the target: closed to others while it is filled, given its
// attributes when all below it is there.

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

    /// Of both roots, which are open; in a dry run that of the target may be missing. Of a team the first process alone
    /// prepares it.
    Result<DirNodeRef> open_root(FolderRef source, const FolderRef& target, bool was_made, bool is_first);
    /// Copies all that is in the root; a member of a team copies what it is given.
    Result<> run(const DirNodeRef& root, bool is_first);
    /// A folder that was listed, with all in it.
    void enter(TreeWorker& worker, const DirNodeRef& dir_node);
    void copy_batch(TreeWorker& worker, const DirNodeRef& dir_node, const NameBatch& batch);

private:
    Result<> try_enter(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<> list(TreeWorker& worker, const DirNodeRef& dir_node);
    Result<CopyStep> copy_named(TreeWorker& worker, CopyEntry& entry, const ListedName& named);
    void add_folder(TreeWorker& worker, const DirNodeRef& child);
    /// Of a name that is no folder: names what a list has below it. False: the list has not the name itself.
    Result<bool> tell_wished_below(const DirNode& dir_node, const std::string& name, sys::EntryKind kind);

    const Uses use_;
    sys::EntryId target_root_;
    std::uint64_t device_ = 0;  // of the source's root
};

}  // namespace forebay::tree
