// Whether a file of the source is left alone while it is read.

#pragma once

#include <optional>

#include "core/sys/tree.hpp"

namespace forebay::tree {

/// A file that was written to while it was copied is copied again, up to so many times in all: one that somebody writes
/// without a pause is said to change.
inline constexpr int copy_tries_max = 3;

/// A status by which later changes can be told, when no write is likely to be in progress. Kernels before 6.13 mark
/// changes within a tick of 4 ms (10 ms at most) alike, and all of them mark a write when it begins. So a file that has
/// just been written is looked at again, until it was left alone for some ticks, and on file systems of whole seconds
/// until its second is over. Nothing: others do not leave it alone for so long.
Result<std::optional<sys::EntryStatus>> settled_status(sys::OpenFile& file, sys::EntryStatus status);

/// Whether what was copied is what the file is now: nobody wrote to it meanwhile.
bool is_unchanged(const sys::EntryStatus& before, const sys::EntryStatus& after);

}  // namespace forebay::tree
