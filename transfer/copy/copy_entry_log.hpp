// What is said of entries that are copied or archived, and not as they are.

#pragma once

#include <string>

#include "transfer/copy/entry_log.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// Of an entry of `dir_node` that is taken: where it makes a folder a run of Forebay, that is said. `root_is_run`: the
/// root's own is expected.
void tell_run(EntryLog& entry_log, bool root_is_run, const DirNode& dir_node, const std::string& name);

/// Flags of an inode that no copy gets; of an entry of `dir_node`, or with an empty name of the branch itself.
void tell_flags(EntryLog& entry_log, const DirNode& dir_node, const std::string& name, const sys::EntryStatus& status);

/// A file changes each time that it is copied, and is left out.
CopyStep report_changes(EntryLog& entry_log, const std::string& path);

}  // namespace forebay::tree
