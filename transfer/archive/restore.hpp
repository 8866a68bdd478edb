// Makes a tree of an archive: our own, or any archive in ustar or pax format, as GNU tar and libarchive write it.
//
// Entries get their names when they are complete, as in a copy and after the same syncs. Hard links are made when all
// else is done. Directories get their attributes last, deepest first. Damaged entries are never restored: after a
// damaged head no later entry can be found, and a file with a wrong checksum gets no name.
//
// Threads: as many as the options say share the work. Callbacks of the options are called by one thread at a time.

#pragma once

#include <functional>
#include <string>

#include "transfer/archive/member.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::archive {

/// Gets each entry with the archive's values, from one thread at a time.
using MemberTaker = std::function<Result<>(const Member&)>;

/// An open archive and the open target directory.
struct RestoreEnds {
    sys::OpenFile& archive;
    std::uint64_t archive_bytes = 0;
    tree::FolderRef target;
    bool was_made = false;         // this restore made the target
    std::string temporary_prefix;  // prefix of temporary names, equal in each restore between the two
};
Result<> restore_open_archive(const RestoreEnds& ends, const tree::TreeCopyOptions& options, const MemberTaker& take,
                              tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Restores to `target`, a directory that is made if it is missing. Used options: threads, filter, preserve,
/// cannot_keep, manifest, rate, is_dry (makes nothing), syncs, naming, layout and watch. Returns an error if the
/// archive is damaged (restored entries are whole), the target is full, or another process restores to it.
Result<> restore_archive(const std::string& path, const std::string& target, const tree::TreeCopyOptions& options,
                         const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts);

/// Files compared with their checksums, and files without a checksum (of other archives).
struct CheckedSums {
    std::uint64_t files = 0, bytes = 0;
    std::uint64_t files_without = 0, bytes_without = 0;
};
/// Reads the whole archive and compares each checksum.
Result<CheckedSums> check_archive(const std::string& path, const tree::TreeCopyOptions& options,
                                  const MemberTaker& take, tree::EntryLog& entry_log, tree::CopyCounts& counts);
/// The same for a new archive: any problem is an error.
Result<> check_made_archive(sys::OpenFile& file, const tree::TreeCopyOptions& options);

}  // namespace forebay::archive
