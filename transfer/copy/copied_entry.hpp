// An entry on its way from the source to the target.

#pragma once

#include <string>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// A source entry with its directories on both sides. In a dry run the target's may be missing.
struct CopyEntry {
    DirNodeRef dir_node;
    FolderRef source, target;
    std::string name;
    sys::EntryId inode{};  // of the source, if it has several names: the id of HardLinks

    std::string path() const { return path_of(*dir_node, name); }
};

}  // namespace forebay::tree
