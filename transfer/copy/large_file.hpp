// A large file: all threads copy it in pieces, and a later run continues it after a kill.
//
// NAME.parts beside its temporary name records the progress as a text of move/journal.hpp. The identity in it stands
// for the source's inode, size and times, and for this boot of the machine. After a reboot unsynced bytes may be
// missing, so the file begins anew.

#pragma once

#include <cstdint>

#include "transfer/copy/make_file.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::tree {

struct TeamMessage;

/// The parts used by copies of large files.
struct LargeFiles {
    const TreeCopyOptions& options;
    EntryLog& entry_log;
    CopyCounts& counts;
    OpenFolders& folders;
    const HardLinks& links;
    const NewEntries& new_entries;
    const TemporaryNames& names;
    Losses& losses;
    DataFlow& flow;
    EntryMaker& maker;
    Failures& failures;
    DirNodeEnds& dir_node_ends;
    const InodeEnds& inode_ends;

    /// Adds the file to the work of `worker` and returns `later`. The file counts in `pending` of its directory node.
    CopyStep start_large(TreeWorker& worker, const EntryPlace& place, const sys::EntryId& inode);
};

/// A piece of a large file in a message to another process.
struct GivenPiece {
    std::string name, temporary;  // name in the source, temporary name at the target
    sys::ByteStretch bytes{};
    std::uint64_t inode = 0, file_bytes = 0;  // of the source
    sys::FileTime modified{};
    std::uint64_t made_inode = 0;

    bool is_of(const sys::EntryStatus& source, const sys::EntryStatus& status) const {
        return source.id.number == inode && source.bytes == file_bytes && source.modified == modified &&
               status.id.number == made_inode;
    }
    void add_to(TeamMessage& work_item) const;
    /// Returns `corrupt` if the work item has no piece.
    static Result<GivenPiece> from(const TeamMessage& work_item);
};

}  // namespace forebay::tree
