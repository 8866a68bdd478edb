// What the target of a copy has and its source has not.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// What a copy saw of its source when it began.
struct SourceAtBegin {
    std::vector<sys::MountBelow> mounts;  // sorted
    sys::FileTime settled;                // what was changed before this time the copy has seen
};

/// Its root, and what is mounted below it: no removal at the target goes into these.
std::vector<sys::EntryId> ids_of_source(const sys::EntryId& root, const std::vector<sys::MountBelow>& mounts);

/// Why none of so many entries is removed; empty: they may be. `counted` has remarks of the walk that has counted them.
std::string too_many_removed(const TreeCopyOptions& options, std::uint64_t entries, const EntryLog& counted);

/// How many entries that would be, as far as nothing of `counted` says that it cannot be known.
Result<std::uint64_t> count_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                                  const TreeCopyOptions& options, EntryLog& counted);

/// Removes it after a copy without errors, or says in the counts why nothing was removed. What the filter leaves out
/// stays; so does what lay at the source in one of the mounts, if that is not mounted there any more, and what lies in
/// a folder in which something came or went since it was copied.
Result<> remove_extra(const FolderRef& source, const FolderRef& target, const SourceAtBegin& at_begin,
                      const TreeCopyOptions& options, EntryLog& entry_log, CopyCounts& counts);

}  // namespace forebay::tree
