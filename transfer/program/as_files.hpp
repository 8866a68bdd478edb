// What is said of runs of Forebay that were taken like any files: one line of all of them, with the command that copies
// one as a run. Nothing where there are none.

#pragma once

#include "transfer/program/copy_run.hpp"

namespace forebay::cli {

void say_copied_as_files(const CopyArguments& options, const tree::EntryLog& entry_log);
void say_archived_as_files(const CopyArguments& options, const tree::EntryLog& entry_log);

}  // namespace forebay::cli
