// Reports entries that are copied or archived with a difference.

#pragma once

#include <string>

#include "transfer/copy/entry_log.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// For an entry of `dir_node` that is copied: reports the directory as a run of Forebay if the entry marks it.
/// `root_is_run`: a run at the root is expected and not reported.
void tell_run(EntryLog& entry_log, bool root_is_run, const DirNode& dir_node, const std::string& name);

/// Reports inode flags that are not copied, for the entry `name` of `dir_node`, or for `dir_node` if the name is empty.
void tell_flags(EntryLog& entry_log, const DirNode& dir_node, const std::string& name, const sys::EntryStatus& status);

/// Reports a file that changed during each try and is left out.
CopyStep report_changes(EntryLog& entry_log, const std::string& path);

}  // namespace forebay::tree
