// What a target cannot keep of an entry, as far as it is known before anything is written: for dry runs, and so that no
// bytes are copied for nothing.

#pragma once

#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

/// Of a dry run: settles, as CopyContext::settle() does, what `target` could not keep of an entry that has `held` at
/// first. An error: the entry would not be copied.
Result<> foresee(CopyContext& context, const std::string& path, sys::Folder& target, const sys::EntryStatus& status,
                 const Held& held, const AttributeSource& attributes);

/// Where entries are refused of which a part cannot be kept, and it looks as if this one's owner cannot: tries to give
/// it to the file that was just made.
Result<> give_owner_first(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status, MadeFile& made);

/// The same of extended attributes, which are asked for once more: for files whose bytes take long.
Result<> refuse_attributes_first(CopyContext& context, const CopyEntry& entry, sys::OpenFile& source,
                                 const sys::EntryStatus& status);

}  // namespace forebay::tree
