// Replaces target directories in the place of other source entries. It removes them when all else is copied, then
// copies the source entries.

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

    /// After errors it reports that they stay.
    Result<> run();

private:
    using Places = std::vector<EntryPlace>;

    Result<CopyStep> check_replaceable(const EntryPlace& place);
    void spare(const Places& places, const std::string& why);
    Result<> remove(const DirNodeRef& root, const Places& places, EntryLog& entry_log, bool is_dry, Amount& would);
    /// Returns true if --max-delete forbids the removals. The counts then have the reason.
    Result<bool> count_removals(const DirNodeRef& root, const Places& places);
    Result<> copy_in_place(const Places& places);

    const Uses use_;
};

}  // namespace forebay::tree
