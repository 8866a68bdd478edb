// An entry on its way from the source to the target.

#pragma once

#include <string>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// An entry of the source with both folders that it is in. In a dry run the target's may be missing.
struct CopyEntry {
    DirNodeRef dir_node;
    FolderRef source, target;
    std::string name;
    sys::EntryId inode{};  // of the source, where it has several names: as HardLinks knows it

    std::string path() const { return path_of(*dir_node, name); }
};

}  // namespace forebay::tree
