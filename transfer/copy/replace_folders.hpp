// Folders of the target that stand where the source has other entries go when all else is copied, and these entries are
// copied then.

#pragma once

#include <set>
#include <vector>

#include "transfer/copy/copy_walk.hpp"

namespace forebay::tree {

class FolderReplacer {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        CopyCounts& counts;
        WorkShare& share;
        OpenFolders& folders;
        const NewEntries& new_entries;
        StoredLayouts& stored;
        DeferredFolders& deferred;
        FolderMaker& folder_maker;
        CopyWalk& walk;
        Naming& naming;
        Failures& failures;
    };
    explicit FolderReplacer(const Uses& uses) : use_(uses) {}

    /// After errors it says that they stay.
    Result<> run();

private:
    using Places = std::vector<EntryPlace>;

    Result<CopyStep> check_replaceable(const EntryPlace& place);
    void spare(const Places& places, const std::string& why);
    Result<> remove(const DirNodeRef& root, const Places& places, EntryLog& entry_log, bool is_dry, Amount& would);
    /// Whether --max-delete forbids them, which the counts say then.
    Result<bool> count_removals(const DirNodeRef& root, const Places& places);
    Result<> copy_in_place(const Places& places);

    const Uses use_;
};

}  // namespace forebay::tree
