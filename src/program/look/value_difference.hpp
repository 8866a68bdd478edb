// How far values of one type are apart: two runs of bytes are compared, and each element that differs is counted.
// Elements are equal if their bits are equal. So 0 and -0 differ, by 0.
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
    std::uint64_t elements = 0;        // that differ
    std::uint64_t without_number = 0;  // of these: strings, and elements that are NaN on one side
    double largest = -1;               // distance of two numbers; below 0: no number differs
    bool is_news = false;              // the last call gave `largest`, or the first element that differs
    std::uint64_t news_at = 0;         // byte of the first side at which that element begins
};

/// Compares bytes of two blocks. `at` is the place of the first byte in the block of the first side, whose elements
/// begin at multiples of their size. `last_element` is the element that was counted last of this pair of blocks: a
/// string may lie in two runs.
void add_difference(Type type, std::span<const std::byte> first, std::span<const std::byte> second, std::uint64_t at,
                    std::uint64_t& last_element, ValueDifference& difference);

inline constexpr std::uint64_t no_element = std::numeric_limits<std::uint64_t>::max();

}  // namespace forebay::cli
