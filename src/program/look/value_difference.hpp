// Compares two runs of bytes as elements of one type and counts differences. Elements are equal if their bits are
// equal, so 0 and -0 differ, by 0.
//
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/describe/schema.hpp"

namespace forebay::cli {

struct ValueDifference {
    std::uint64_t elements = 0;        // different elements
    std::uint64_t without_number = 0;  // of these, strings and elements that are NaN on one side
    double largest = -1;               // largest distance of two numbers; below 0: none
    bool is_news = false;              // the last call found a new `largest`, or the first difference
    std::uint64_t news_at = 0;         // first byte of that element on the first side
};

/// Compares bytes of two blocks. `at` is the place of the first byte in the first side's block, whose elements begin at
/// multiples of their size. `last_element` is the last counted element of these blocks, because a string may lie in two
/// runs.
void add_difference(Type type, std::span<const std::byte> first, std::span<const std::byte> second, std::uint64_t at,
                    std::uint64_t& last_element, ValueDifference& difference);

inline constexpr std::uint64_t no_element = std::numeric_limits<std::uint64_t>::max();

}  // namespace forebay::cli
