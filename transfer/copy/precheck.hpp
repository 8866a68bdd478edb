// What a target cannot keep of an entry, as far as it is known before anything is written: for dry runs, and so that no
// bytes are copied for nothing.

#pragma once

#include "transfer/copy/losses.hpp"

namespace forebay::tree {

/// Of a dry run: settles, as Losses::settle() does, what `target` could not keep of an entry that has `held` at first.
/// An error: the entry would not be copied.
Result<> precheck(Losses& losses, const Preserve& preserve, const std::string& path, sys::Folder& target,
                  const sys::EntryStatus& status, const Held& held, const AttributeSource& attributes);

/// Where entries are refused of which a part cannot be kept: the same of extended attributes, which are asked for once
/// more, for files whose bytes take long.
Result<> refuse_attributes_first(Losses& losses, const Preserve& preserve, const CopyEntry& entry,
                                 sys::OpenFile& source, const sys::EntryStatus& status);

}  // namespace forebay::tree
