// Checks that the boxes of all ranks fill a global shape exactly once, without a table of all boxes.
//
// Each cell (i0, i1, ...) has the weight r0^i0 * r1^i1 * ... modulo the prime 2^61 - 1, for random r. The weight of a
// box is a product of geometric series, one for each dimension. If every cell is covered once, the weights of the boxes
// sum to the weight of the shape. Otherwise they do so with a probability below (sum of extents) / 2^61
// (Schwartz-Zippel lemma).

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay {

/// Returns the weight of all cells of `box`, modulo 2^61 - 1. `seed` chooses the r and must be equal on all ranks.
std::uint64_t cell_weight(const Box& box, std::uint64_t seed);

/// Adds weights modulo 2^61 - 1.
std::uint64_t add_weights(std::uint64_t a, std::uint64_t b);

/// Returns the indices of two boxes that share a cell, or {0, 0}.
std::pair<std::size_t, std::size_t> find_overlap(std::span<const Box> boxes);

}  // namespace forebay
