// A file that is copied in pieces by all threads, and gone on with after a kill.
//
// Beside its temporary name lies the mark of how far it has come, NAME.parts: a text of move/journal.hpp, whose
// identity stands for the source's inode, its size and times, and for this start of the machine. After another start
// bytes may be missing that were never synced, so such a file is begun anew.

#pragma once

#include <cstdint>

#include "transfer/copy/copy_context.hpp"

namespace forebay::tree {

/// Two pieces: what one thread copies alone takes 30 ms at most.
inline constexpr std::uint64_t large_file_bytes = 64u << 20;

/// Adds the file, which had `status`, to the work of `worker`. It counts in the branch's `pending`, and gives that
/// back.
void start_large_file(CopyContext& context, TreeWorker& worker, const EntryPlace& place, const sys::EntryId& inode);

/// The mark's name for a temporary name.
std::string parts_name(const std::string& temporary);

}  // namespace forebay::tree
