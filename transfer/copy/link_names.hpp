// Gives the copy of an inode its further names.
//
// Threads: any.

#pragma once

#include "transfer/copy/copied_entry.hpp"
#include "transfer/copy/new_entries.hpp"
#include "transfer/copy/publisher.hpp"

namespace forebay::tree {

class NameLinker {
public:
    struct Uses {
        CopyCounts& counts;
        OpenFolders& folders;
        const NewEntries& new_entries;
        const TemporaryNames& names;
        NamePublisher& publisher;
    };
    explicit NameLinker(const Uses& uses) : use_(uses) {}

    /// Makes `entry` a hard link of the target's entry `first`.
    Result<CopyStep> link_copy(const CopyEntry& entry, const EntryPlace& first);

private:
    Result<bool> is_linked(const CopyEntry& entry, sys::Folder& first_folder, const std::string& first_name);
    Result<> check_linked(const CopyEntry& entry, const EntryPlace& first, const std::string& name);

    const Uses use_;
};

}  // namespace forebay::tree
