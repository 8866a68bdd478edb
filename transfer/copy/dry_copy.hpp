// A dry run reports entries here; other runs make, adjust or link them.
//
// Threads: any.

#pragma once

#include "transfer/copy/look_up.hpp"
#include "transfer/copy/losses.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

class DryCopier {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        CopyCounts& counts;
        OpenFolders& folders;
        Losses& losses;
        Lookup& lookup;
        const EntryMaker& maker;
        const FolderRef& asked;  // used if the target's directory is missing; may be null
    };
    explicit DryCopier(const Uses& uses) : use_(uses) {}

    /// `decision` is make, replace or adjust.
    Result<CopyStep> would_copy(const CopyEntry& entry, EntryDecision decision, const EntrySight& sight);
    /// `entry` would become a further name of `first`.
    Result<CopyStep> would_link(TreeWorker& worker, const CopyEntry& entry, const EntryPlace& first, EntrySight& sight);

private:
    Result<bool> is_name_of(const EntryPlace& first, const EntrySight& sight);
    sys::Folder* target_of(const CopyEntry& entry) const {
        return entry.target ? entry.target.get() : use_.asked.get();
    }

    const Uses use_;
};

}  // namespace forebay::tree
