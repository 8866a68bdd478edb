// Memory limits of the tables of a verb, and limits for the sync before names are set.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::tree {

/// Beyond a limit, inodes go to a spill file and names are looked up one by one. No result depends on the limits.
struct TableLimits {
    /// Inodes of several names with the place of their copy: 10 MB, or 50 MB if each is in a directory of its own.
    std::size_t inodes = 1u << 16;
    /// Of each table of inodes: about 600,000 pairs of a comparison, or a million of a walk.
    std::size_t inode_bytes = 32u << 20;
    /// For the names of copies, about 800,000.
    std::size_t place_bytes = 24u << 20;
    /// For the paths of a list, about 400,000; sorting needs the same again.
    std::size_t list_bytes = 32u << 20;
    /// For the names in the directories being compared, on both sides: about 600,000.
    std::size_t name_bytes = 96u << 20;
    /// Target directories in the place of other entries of the source. They are replaced at the end.
    std::size_t deferred = 1u << 16;
};

/// Syncs a batch after so many entries, bytes or seconds. A kill costs at most this work: entries without a final name
/// are copied again.
struct NamingLimits {
    std::size_t entries = 4096;
    std::uint64_t dir_nodes = 1u << 17;  // parents of the entries: 100 MB if each entry has its own
    std::uint64_t bytes = 1u << 30;
    std::chrono::seconds age{5};
};

}  // namespace forebay::tree
