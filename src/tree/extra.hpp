// What the target of a copy has and its source has not.

#pragma once

#include "tree/branch.hpp"
#include "tree/copy.hpp"

namespace forebay::tree {

/// Removes it, after a copy without errors. Entries that the filter leaves out stay; so does what lay at the source in
/// one of `mounts`, as the copy saw them, if that is not mounted there any more.
Result<> remove_extra(const FolderRef& source, const FolderRef& target, const std::vector<sys::MountBelow>& mounts,
                      const TreeCopyOptions& options, Remarks& remarks, CopyCounts& counts);

}  // namespace forebay::tree
