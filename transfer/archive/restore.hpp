// Makes a tree of an archive: one of ours, or of GNU tar, libarchive and whoever else writes ustar or pax.
//
// Entries get their names when they are whole, as those of a copy do, and after the same syncs. Names of one inode come
// when all else is there, and folders get their attributes last, the deepest first. What is damaged is never restored:
// where a head is damaged, nothing behind it can be found, and a file whose bytes differ from their checksum gets no
// name.
//
// Threads: work is shared by as many as the options say; their callbacks are called by one thread at a time.

#pragma once

#include <functional>
#include <string>

#include "transfer/archive/member.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::archive {

/// Gets each entry, as the archive has them; from one thread at a time.
using MemberTaker = std::function<Result<>(const Member&)>;

/// An archive and the folder to which it is restored, both open.
struct RestoreEnds {
    sys::OpenFile& archive;
    std::uint64_t archive_bytes = 0;
    tree::FolderRef target;
    bool was_made = false;         // the target, by this restore
    std::string temporary_prefix;  // of names of entries that are not whole, the same in each restore between the two
};
Result<> restore_open_archive(const RestoreEnds& ends, const tree::TreeCopyOptions& options, const MemberTaker& take,
                              tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Restores to `target`, a folder that is made where it is missing. Of the options count threads, filter, preserve,
/// cannot_keep, manifest, rate, is_dry (nothing is made), syncs, naming, layout and watch. An error ends it all: the
/// archive is damaged, and what is restored is whole; the target is full, or another process restores to it.
Result<> restore_archive(const std::string& path, const std::string& target, const tree::TreeCopyOptions& options,
                         const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Files of an archive whose bytes are compared with their checksums, and those of others that have none.
struct CheckedSums {
    std::uint64_t files = 0, bytes = 0;
    std::uint64_t files_without = 0, bytes_without = 0;
};
/// Reads all of it, and compares what has a checksum with it.
Result<CheckedSums> check_archive(const std::string& path, const tree::TreeCopyOptions& options,
                                  const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts);
/// The same of one that was just made: an error where anything is wrong.
Result<> check_made_archive(sys::OpenFile& file, const tree::TreeCopyOptions& options);

}  // namespace forebay::archive
