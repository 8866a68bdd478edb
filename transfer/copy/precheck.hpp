// Finds parts of an entry that the target cannot store before anything is written: for dry runs, and to copy no bytes
// in vain.

#pragma once

#include "transfer/copy/losses.hpp"

namespace forebay::tree {

/// For a dry run: settles each part that `target` could not store, as Losses::settle() does. `held` are the entry's
/// attributes at first. Returns an error if the entry would not be copied.
Result<> precheck(Losses& losses, const Preserve& preserve, const std::string& path, sys::Folder& target,
                  const sys::EntryStatus& status, const Held& held, const AttributeSource& attributes);

/// If the policy refuses incomplete entries: checks the extended attributes of a large file before its bytes are
/// copied. They are read again later.
Result<> refuse_attributes_first(Losses& losses, const Preserve& preserve, const CopyEntry& entry,
                                 sys::OpenFile& source, const sys::EntryStatus& status);

}  // namespace forebay::tree
