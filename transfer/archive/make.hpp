// Makes one file of a tree: a pax archive that GNU tar and libarchive read too. All threads form entries and write them
// at places of their own; docs/formats/archive.md has what is in it.
//
// The file gets its name when it is whole. A source that changes is looked at again, as by a copy.
//
// Threads: work is shared by as many as the options say; their callbacks are called by one thread at a time.

#pragma once

#include <string>

#include "forebay/result.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::archive {

/// Of the options count threads, filter, preserve, rate, one_file_system, is_dry, syncs, watch, and verifies: the
/// archive is read back from storage and checked before it gets its name. An error ends it all, and then `path` is what
/// it was; what happened to single entries is in `entry_log`.
Result<> make_archive(const std::string& source, const std::string& path, bool replaces,
                      const tree::TreeCopyOptions& options, tree::EntryLog& entry_log, tree::CopyCounts& counts);

}  // namespace forebay::archive
