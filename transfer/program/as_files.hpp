// Prints one line about runs of Forebay that were copied as plain files, with the command that copies a run as a run.
// Prints nothing if there are none.

#pragma once

#include "transfer/program/copy_run.hpp"

namespace forebay::cli {

void say_copied_as_files(const CopyArguments& options, const tree::EntryLog& entry_log);
void say_archived_as_files(const CopyArguments& options, const tree::EntryLog& entry_log);

}  // namespace forebay::cli
