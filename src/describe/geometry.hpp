// Boxes and their intersections, balanced shares, and walks over two strided layouts at once: the
// arithmetic of N-to-M. Nothing here allocates or touches data.

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "describe/schema.hpp"
#include "forebay/describe.hpp"

namespace forebay {

using Strides = std::array<std::int64_t, dims_max>;

/// Number of elements; 1 for no dimensions.
std::uint64_t volume(const Extents& size);

/// The common part of two boxes of equal dims; nothing when it is empty.
std::optional<Box> intersect(const Box& a, const Box& b);

/// Whether `box` lies inside a global array of `shape`.
bool inside(const Box& box, const Extents& shape);

/// The smallest box that holds both.
Box bounding(const Box& a, const Box& b);

/// Row-major strides of a packed box.
Strides packed_strides(const Extents& size, std::uint32_t element_bytes);

/// Byte distance of the element at global position `at` from the element at `origin`.
std::int64_t offset_bytes(const Extents& at, const Extents& origin, const Strides& strides);

/// The box of `piece` grown by its halo, as far as it lies inside `shape`.
Box grown(const Piece& piece, const Extents& shape);

/// Rows [first, first + count) of `total` that part `index` of `parts` gets: as equal as can be, in order.
struct RowRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    friend bool operator==(const RowRange&, const RowRange&) = default;
};
RowRange balanced_share(std::uint64_t total, std::uint32_t index, std::uint32_t parts);

/// Calls visit(offset_a, offset_b, bytes) for each run of bytes that is contiguous in both layouts of a
/// box of `size`, in row-major order; offsets start at the box's first element. The last dimensions are
/// merged as far as both layouts are contiguous; an empty box has no runs.
template <class Visit>
void for_each_run(const Extents& size, std::uint32_t element_bytes, const Strides& a, const Strides& b, Visit&& visit) {
    int outer = size.dims();
    std::int64_t run = element_bytes;
    while (outer > 0) {
        const auto dim = static_cast<std::size_t>(outer - 1);
        if (size[outer - 1] != 1 && (a[dim] != run || b[dim] != run)) break;
        run *= static_cast<std::int64_t>(size[outer - 1]);
        --outer;
    }
    if (run == 0) return;
    for (int dim = 0; dim < outer; ++dim)
        if (size[dim] == 0) return;
    std::array<std::uint64_t, dims_max> at{};
    std::int64_t offset_a = 0;
    std::int64_t offset_b = 0;
    for (;;) {
        visit(offset_a, offset_b, static_cast<std::uint64_t>(run));
        int dim = outer - 1;
        for (; dim >= 0; --dim) {
            const auto i = static_cast<std::size_t>(dim);
            offset_a += a[i];
            offset_b += b[i];
            if (++at[i] < size[dim]) break;
            offset_a -= a[i] * static_cast<std::int64_t>(size[dim]);
            offset_b -= b[i] * static_cast<std::int64_t>(size[dim]);
            at[i] = 0;
        }
        if (dim < 0) return;
    }
}

}  // namespace forebay
