// Identifies an inode, or an object of a store, as long as it exists.

#pragma once

#include <compare>
#include <cstdint>

namespace forebay::sys {

struct EntryId {
    std::uint64_t device = 0, number = 0;
    auto operator<=>(const EntryId&) const = default;
};

}  // namespace forebay::sys
