// Removes entries of a copy's target that the source does not have.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// State of the source when its copy began.
struct SourceAtBegin {
    std::vector<sys::MountBelow> mounts;  // sorted
    sys::FileTime settled;                // the copy has seen all changes before this time
};

/// Inodes of the source's root and of the mounts below it. Removals at the target never enter them.
std::vector<sys::EntryId> ids_of_source(const sys::EntryId& root, const std::vector<sys::MountBelow>& mounts);

/// The reason not to remove so many entries; empty if they may be removed. `counted` is the log of the counting walk.
std::string too_many_removed(const TreeCopyOptions& options, std::uint64_t entries, const EntryLog& counted);

/// Counts extra entries. Errors in `counted` mean that the count is incomplete.
Result<std::uint64_t> count_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                                  const TreeCopyOptions& options, EntryLog& counted);

/// Removes extra entries after a copy without errors, or sets the reason in `counts`. Kept: excluded entries, copies of
/// a source mount that is no longer mounted, and entries of directories that changed since their copy.
Result<> remove_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                      const TreeCopyOptions& options, EntryLog& entry_log, CopyCounts& counts);

}  // namespace forebay::tree
