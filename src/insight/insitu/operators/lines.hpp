// Cuts a piece of an array into lines along the last dimension, each with its place in the global shape. It divides
// only for the first line.

#pragma once

#include <algorithm>
#include <cstdint>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// Consecutive elements of a piece. Only their last index differs.
struct ArrayLine {
    Extents at;               // the first element's place in the global shape
    std::uint64_t first = 0;  // the first element's number in the piece
    std::uint64_t count = 0;
};

/// Calls visit(line) for each line of the piece, in order. The piece must lie inside its box. The box must have at
/// least one dimension.
template <class Visit>
void for_each_line(const Elements& piece, Visit&& visit) {
    const auto& box = piece.box;
    const int last = box.size.dims() - 1;
    Extents at = box.lo;  // place of the line's first element
    std::uint64_t rest = piece.first;
    for (int dim = last; dim >= 0; --dim) {
        at[dim] += rest % box.size[dim];
        rest /= box.size[dim];
    }
    for (std::uint64_t first = 0; first < piece.count;) {
        const auto row_left = box.lo[last] + box.size[last] - at[last];
        const auto count = std::min(row_left, piece.count - first);
        visit(ArrayLine{at, first, count});
        first += count;
        at[last] = box.lo[last];
        for (int dim = last - 1; dim >= 0; --dim) {
            if (++at[dim] < box.lo[dim] + box.size[dim]) break;
            at[dim] = box.lo[dim];
        }
    }
}

/// The row-major number of the element at `at` in an array of `shape`.
inline std::uint64_t place_in(const Extents& shape, const Extents& at) {
    std::uint64_t place = 0;
    for (int dim = 0; dim < shape.dims(); ++dim) place = place * shape[dim] + at[dim];
    return place;
}

/// The numbers without dimension `axis`.
inline Extents without(const Extents& numbers, int axis) {
    Extents rest;
    for (int dim = 0; dim < numbers.dims(); ++dim)
        if (dim != axis) rest.push_back(numbers[dim]);
    return rest;
}

}  // namespace forebay::insitu
