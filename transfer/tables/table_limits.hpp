// How much of a tree the tables of a mover hold in memory, and how long whole entries wait for their names.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::tree {

/// What is beyond goes to a spill file (inodes), or is asked for name by name (names). No result depends on them.
struct TableLimits {
    /// Inodes of several names with the place of their copy: 10 MB, or 50 MB where each lies in a folder of its own.
    std::size_t inodes = 1u << 16;
    /// Of each table of inodes: some 600,000 that a comparison pairs, or a million of a walk.
    std::size_t inode_bytes = 32u << 20;
    /// Of names where copies lie, some 800,000.
    std::size_t place_bytes = 24u << 20;
    /// Of the paths of a list, some 400,000, and the same again while they are sorted.
    std::size_t list_bytes = 32u << 20;
    /// Names of the folders that are compared at a time, on both sides: 600,000 or so.
    std::size_t name_bytes = 96u << 20;
    /// Folders of the target that stand where the source has other entries, and are replaced in the end.
    std::size_t deferred = 1u << 16;
};

/// The sync before names: after so many entries, bytes or seconds, whichever comes first. A kill costs no more than
/// that, as whole entries without a name are copied again.
struct NamingLimits {
    std::size_t entries = 4096;
    std::uint64_t dir_nodes = 1u << 17;  // above them, 100 MB where no two have one
    std::uint64_t bytes = 1u << 30;
    std::chrono::seconds age{5};
};

}  // namespace forebay::tree
