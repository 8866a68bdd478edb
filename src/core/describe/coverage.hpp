// Whether the boxes of all ranks fill a global shape exactly once, without a table of all boxes anywhere.
//
// Each cell (i0, i1, ...) has the weight r0^i0 * r1^i1 * ... modulo the prime 2^61 - 1, for random r. The weights of a
// box sum up in closed form, a geometric series a dimension; the sums of all boxes equal the sum of the whole shape if
// every cell is covered once, and otherwise with probability below (sum of extents) / 2^61 (Schwartz-Zippel lemma).

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay {

/// The weight of all cells of `box`, modulo 2^61 - 1; `seed` chooses the r and is equal on all ranks.
std::uint64_t cell_weight(const Box& box, std::uint64_t seed);

/// Adds weights modulo 2^61 - 1.
std::uint64_t add_weights(std::uint64_t a, std::uint64_t b);

/// Two boxes of the list that share a cell, as indices; {0, 0} when none do.
std::pair<std::size_t, std::size_t> find_overlap(std::span<const Box> boxes);

}  // namespace forebay
