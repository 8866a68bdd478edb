// The layouts of files, if their file system has them, and whether file bytes are only in an archive (HSM).

#pragma once

#include <map>
#include <mutex>
#include <string>

#include "core/sys/stripe_layout.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// The text for a file skipped because its bytes are only in an archive.
std::string released_text(TreeSide side);

/// Asks each file system once if it has layouts. Threads: any.
class StoredLayouts {
public:
    /// If it recalls, no file is skipped.
    explicit StoredLayouts(bool recalls) : recalls_(recalls) {}

    /// For the file system of `folder`; its device number is `device`.
    Result<bool> has(sys::Folder& folder, std::uint64_t device);
    /// Layout of a file in `folder`, without opening the file; empty if there is none.
    Result<sys::StripeLayout> layout_of(sys::Folder& folder, std::uint64_t device, const std::string& name);
    /// True if a read would recall the file's bytes.
    Result<bool> is_released(sys::Folder& folder, std::uint64_t device, const std::string& name);
    /// The same with a known status: no call for a file with its bytes on storage.
    Result<bool> is_released(sys::Folder& folder, std::uint64_t device, const std::string& name,
                             const sys::EntryStatus& status);

    /// Call it before a file is read; each given side has the file. True if a read would recall its bytes: the file is
    /// then skipped and reported.
    Result<bool> leaves(const DirNode& dir_node, sys::Folder* source, sys::Folder* target, const std::string& name,
                        EntryLog& entry_log);
    bool recalls() const { return recalls_; }

private:
    const bool recalls_;
    std::mutex mutex_;  // guards the members below
    std::map<std::uint64_t, bool> has_;
};

/// Layout of new files in a directory.
Result<sys::StripeLayout> layout_of_new_files(sys::Folder& folder);

}  // namespace forebay::tree
