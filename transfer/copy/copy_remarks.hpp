// What is said of entries that are copied or archived, and not as they are.

#pragma once

#include <string>

#include "transfer/copy/remarks.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/walk/branch.hpp"

namespace forebay::tree {

/// Of an entry of `branch` that is taken: where it makes a folder a run of Forebay, that is said. `root_is_run`: the
/// root's own is expected.
void tell_run(Remarks& remarks, bool root_is_run, const Branch& branch, const std::string& name);

/// Flags of an inode that no copy gets; of an entry of `branch`, or with an empty name of the branch itself.
void tell_flags(Remarks& remarks, const Branch& branch, const std::string& name, const sys::EntryStatus& status);

/// A file changes each time that it is copied, and is left out.
CopyStep report_changes(Remarks& remarks, const std::string& path);

}  // namespace forebay::tree
