// How files lie, where their file system tells it; and whether their bytes are there, or in an archive alone (HSM).

#pragma once

#include <map>
#include <mutex>
#include <string>

#include "core/sys/stripe_layout.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// What is said of a file that is left alone because its bytes are in an archive alone.
std::string released_text(TreeSide side);

/// Asks each file system once whether it has layouts. Threads: any.
class StoredLayouts {
public:
    /// Where it recalls, no file is left alone.
    explicit StoredLayouts(bool recalls) : recalls_(recalls) {}

    /// Of the file system of `folder`, which is `device`.
    Result<bool> has(sys::Folder& folder, std::uint64_t device);
    /// Of a file in `folder`, without opening it; empty where there is none to tell.
    Result<sys::StripeLayout> layout_of(sys::Folder& folder, std::uint64_t device, const std::string& name);
    /// Whether reading the file would have its bytes recalled.
    Result<bool> is_released(sys::Folder& folder, std::uint64_t device, const std::string& name);
    /// The same in a walk, which has looked at the file already: one whose bytes are on storage is not asked for.
    Result<bool> is_released(sys::Folder& folder, std::uint64_t device, const std::string& name,
                             const sys::EntryStatus& status);

    /// Before a file is read, of which each side that is given has one: whether it is left alone, as reading it would
    /// have its bytes recalled. Then that is remarked.
    Result<bool> leaves(const DirNode& dir_node, sys::Folder* source, sys::Folder* target, const std::string& name,
                        EntryLog& entry_log);
    bool recalls() const { return recalls_; }

private:
    const bool recalls_;
    std::mutex mutex_;  // guards what follows
    std::map<std::uint64_t, bool> has_;
};

/// Of a directory: how new files in it lie.
Result<sys::StripeLayout> layout_of_new_files(sys::Folder& folder);

}  // namespace forebay::tree
