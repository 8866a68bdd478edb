// A file that is copied in pieces by all threads, and gone on with after a kill.
//
// Beside its temporary name lies the mark of how far it has come, NAME.parts: a text of move/journal.hpp, whose
// identity stands for the source's inode, its size and times, and for this start of the machine. After another start
// bytes may be missing that were never synced, so such a file is begun anew.

#pragma once

#include <cstdint>

#include "transfer/copy/make_file.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::tree {

struct TeamMessage;

/// What copies of large files are made by.
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

    /// Adds the file to the work of `worker`, and gives `later`: it counts in the branch's `pending` meanwhile.
    CopyStep start_large(TreeWorker& worker, const EntryPlace& place, const sys::EntryId& inode);
};

/// A piece of such a file, as another process is told of it.
struct GivenPiece {
    std::string name, temporary;  // of the source, and at the target
    sys::ByteStretch bytes{};
    std::uint64_t inode = 0, file_bytes = 0;  // of the source
    sys::FileTime modified{};
    std::uint64_t made_inode = 0;

    bool is_of(const sys::EntryStatus& source, const sys::EntryStatus& status) const {
        return source.id.number == inode && source.bytes == file_bytes && source.modified == modified &&
               status.id.number == made_inode;
    }
    void add_to(TeamMessage& work_item) const;
    /// `corrupt` where the gift has no piece.
    static Result<GivenPiece> from(const TeamMessage& work_item);
};

}  // namespace forebay::tree
