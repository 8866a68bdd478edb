// Whether all ranks have the same: told by a maximum that is made anyway, and, where they have not, who differs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/comm/group.hpp"

namespace forebay::comm {

/// Whether all ranks gave the same x, by the maxima of x and of ~x. (Not of -x: the most negative number has none.)
constexpr bool is_alike(std::int64_t largest, std::int64_t largest_inverse) { return largest == ~largest_inverse; }

/// What differs: rank 0's bytes and those of the lowest rank that has others.
struct Unlike {
    std::vector<std::byte> of_first;
    std::vector<std::byte> of_other;
    int other = 0;
    int others = 0;  // ranks that do not have rank 0's
};
/// Nothing where all have the same. For the paths of errors: it sends all bytes to all ranks. Collective.
Result<std::optional<Unlike>> find_unlike(Group& group, std::span<const std::byte> own_bytes);

/// Every rank gets the error of the lowest rank that has one; else what differs, where the ranks gave other bytes: one
/// maximum when all is well. Collective.
Result<std::optional<Unlike>> agree_alike(Group& group, const Result<>& own_outcome, std::span<const std::byte> bytes);

}  // namespace forebay::comm
