// Counts of a part of a tree: of a batch of names, or of a work item from another process.

#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "core/sys/tree.hpp"
#include "transfer/team/team_message.hpp"

namespace forebay::tree {

struct WalkFound {
    /// An inode with several names. `seen` names were seen here. The coordinator finds out if the first is among them.
    struct Link {
        std::uint64_t seen = 0, names = 0, bytes = 0, allocated_bytes = 0;
        bool is_file = false;
    };

    std::array<std::uint64_t, 8> of_kind{};
    std::uint64_t bytes = 0, allocated_bytes = 0, further_names = 0, with_holes = 0, released = 0;
    std::uint64_t largest_bytes = 0, deepest = 0, file_bytes = 0;
    std::map<sys::EntryId, Link> links{};  // only for a group of workers

    /// Adds an inode at its first name.
    void add(std::uint64_t its_bytes, std::uint64_t its_allocated_bytes, bool is_file);
    void add(const WalkFound& other);

    void write(TeamMessage& message) const;
    /// Returns false if the message is of another kind.
    bool read(const TeamMessage& message);
};

}  // namespace forebay::tree
