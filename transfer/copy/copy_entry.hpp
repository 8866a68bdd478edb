// Copies entries that are no directories: looks each up, decides, and passes it to the stage that links, makes or
// adjusts it.
//
// Threads: any.

#pragma once

#include "transfer/copy/deferred.hpp"
#include "transfer/copy/dry_copy.hpp"
#include "transfer/copy/further_names.hpp"
#include "transfer/copy/large_file.hpp"
#include "transfer/copy/look_up.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

class EntryCopier {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        CopyCounts& counts;
        DeferredFolders& deferred;
        Lookup& lookup;
        FurtherNames& further_names;
        DryCopier& dry;
        EntryMaker& maker;
        LargeFiles& large_files;
    };
    explicit EntryCopier(const Uses& uses) : use_(uses) {}

    /// `listed_number` is the inode number of the listing.
    Result<CopyStep> copy(TreeWorker& worker, const CopyEntry& entry, sys::EntryKind kind, std::uint64_t listed_number);
    /// Continues after the lookup.
    Result<CopyStep> place(TreeWorker& worker, const CopyEntry& entry, FoundEntry& match);

private:
    Result<CopyStep> carry_out(TreeWorker& worker, const CopyEntry& entry, FoundEntry& match);

    const Uses use_;
};

}  // namespace forebay::tree
