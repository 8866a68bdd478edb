// Makes one file of a tree: a pax archive that GNU tar and libarchive can read. All threads form entries and write them
// at their own places. docs/formats/archive.md describes the contents.
//
// The file gets its name when it is complete. A changing source file is read again, as by a copy.
//
// Threads: as many as the options say share the work. Callbacks of the options are called by one thread at a time.

#pragma once

#include <string>

#include "forebay/result.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::archive {

/// Used options: threads, filter, preserve, rate, one_file_system, is_dry, syncs, watch and verifies, which reads the
/// archive back from storage and checks it before it gets its name. On error `path` is unchanged. `entry_log` has the
/// results of single entries.
Result<> make_archive(const std::string& source, const std::string& path, bool replaces,
                      const tree::TreeCopyOptions& options, tree::EntryLog& entry_log, tree::CopyCounts& counts);

}  // namespace forebay::archive
