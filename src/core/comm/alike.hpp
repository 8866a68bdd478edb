// Checks that all ranks have the same value, by a maximum that is made anyway, and finds the rank that differs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/comm/group.hpp"

namespace forebay::comm {

/// True if all ranks gave the same x, by the maxima of x and of ~x. (Not of -x: the most negative number has none.)
constexpr bool is_alike(std::int64_t largest, std::int64_t largest_inverse) { return largest == ~largest_inverse; }

/// The difference: rank 0's bytes, and the bytes of the lowest rank that differs.
struct Unlike {
    std::vector<std::byte> of_first;
    std::vector<std::byte> of_other;
    int other = 0;
    int others = 0;  // number of ranks that differ from rank 0
};
/// Empty if all ranks have the same bytes. For error paths only: it sends all bytes to all ranks. Collective.
Result<std::optional<Unlike>> find_unlike(Group& group, std::span<const std::byte> own_bytes);

/// Every rank gets the error of the lowest failing rank; else the difference if the ranks gave different bytes. One
/// maximum when all is well. Collective.
Result<std::optional<Unlike>> agree_alike(Group& group, const Result<>& own_outcome, std::span<const std::byte> bytes);

}  // namespace forebay::comm
