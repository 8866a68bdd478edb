// What the target of a copy has and its source has not.

#pragma once

#include "tree/copy.hpp"
#include "tree/branch.hpp"

namespace forebay::tree {

/// Removes it, after a copy without errors. Entries that the filter leaves out stay.
Result<> remove_extra(const FolderRef& source, const FolderRef& target, const CopyOptions& options, Remarks& remarks,
                      CopyCounts& counts);

}  // namespace forebay::tree
