// Checks that a source file is at rest while it is read.

#pragma once

#include <optional>

#include "core/sys/tree.hpp"

namespace forebay::tree {

/// A file written to during its copy is copied again, up to this many tries. After that it is reported as `changed`.
inline constexpr int copy_tries_max = 3;

/// Returns a status that shows later changes, at a moment when probably no write is in progress. Kernels before 6.13
/// give equal ctimes to changes within a tick of 4 ms (at most 10 ms), and all kernels set the ctime when a write
/// begins. So a recently written file is read again until it was at rest for some ticks, or on file systems with whole
/// seconds until its second is over. Returns nothing if the file does not come to rest.
Result<std::optional<sys::EntryStatus>> settled_status(sys::OpenFile& file, sys::EntryStatus status);

/// True if nobody wrote to the file meanwhile.
bool is_unchanged(const sys::EntryStatus& before, const sys::EntryStatus& after);

}  // namespace forebay::tree
