// Boxes and their intersections, balanced shares, and walks over two strided layouts at once: the
// arithmetic of N-to-M. Nothing here allocates or touches data.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/describe/schema.hpp"
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

/// Walks the runs of bytes that are contiguous in both layouts of a box of `size`, in row-major order; offsets start at
/// the box's first element. The last dimensions are merged as far as both layouts are contiguous; an empty box has no
/// runs. A walk may be left and taken up again: with layout `a` packed, its offsets rise.
class RunWalk {
public:
    RunWalk(const Extents& size, std::uint32_t element_bytes, const Strides& a, const Strides& b)
        : size_(size), a_(a), b_(b) {
        outer_ = size.dims();
        auto run = static_cast<std::int64_t>(element_bytes);
        while (outer_ > 0) {
            const auto dim = static_cast<std::size_t>(outer_ - 1);
            if (size[outer_ - 1] != 1 && (a[dim] != run || b[dim] != run)) break;
            run *= static_cast<std::int64_t>(size[outer_ - 1]);
            --outer_;
        }
        run_bytes_ = static_cast<std::uint64_t>(run);
        done_ = run == 0;
        for (int dim = 0; dim < outer_; ++dim) done_ |= size[dim] == 0;
    }

    bool done() const { return done_; }
    std::int64_t a() const { return offset_a_; }
    std::int64_t b() const { return offset_b_; }
    std::uint64_t run_bytes() const { return run_bytes_; }
    /// Of the whole walk, whatever is done of it.
    std::uint64_t total_bytes() const {
        auto bytes = run_bytes_;
        for (int dim = 0; dim < outer_; ++dim) bytes *= size_[dim];
        return bytes;
    }

    void next() {
        for (int dim = outer_ - 1; dim >= 0; --dim) {
            const auto i = static_cast<std::size_t>(dim);
            offset_a_ += a_[i];
            offset_b_ += b_[i];
            if (++at_[i] < size_[dim]) return;
            offset_a_ -= a_[i] * static_cast<std::int64_t>(size_[dim]);
            offset_b_ -= b_[i] * static_cast<std::int64_t>(size_[dim]);
            at_[i] = 0;
        }
        done_ = true;
    }

    /// With layout `a` packed, in this box or in a larger one: goes to the run that holds byte `offset` of `a` and
    /// gives how far into that run it lies; 0 where none holds it, at the first run behind it, or done() where there is
    /// none.
    std::uint64_t seek(std::uint64_t offset) {
        if (done_) return 0;
        auto rest = static_cast<std::int64_t>(offset);
        offset_a_ = offset_b_ = 0;
        for (int dim = 0; dim < outer_; ++dim) {
            const auto i = static_cast<std::size_t>(dim);
            at_[i] = size_[dim] == 1 ? 0 : std::min(static_cast<std::uint64_t>(rest / a_[i]), size_[dim] - 1);
            offset_a_ += a_[i] * static_cast<std::int64_t>(at_[i]);
            offset_b_ += b_[i] * static_cast<std::int64_t>(at_[i]);
            rest -= a_[i] * static_cast<std::int64_t>(at_[i]);
        }
        if (rest < static_cast<std::int64_t>(run_bytes_)) return static_cast<std::uint64_t>(rest);
        next();
        return 0;
    }

private:
    Extents size_;
    Strides a_, b_;
    std::array<std::uint64_t, dims_max> at_{};
    int outer_ = 0;
    std::uint64_t run_bytes_ = 0;
    std::int64_t offset_a_ = 0, offset_b_ = 0;
    bool done_ = false;
};

/// Calls visit(offset_a, offset_b, bytes) for each run of a walk.
template <class Visit>
void for_each_run(const Extents& size, std::uint32_t element_bytes, const Strides& a, const Strides& b, Visit&& visit) {
    for (RunWalk walk(size, element_bytes, a, b); !walk.done(); walk.next())
        visit(walk.a(), walk.b(), walk.run_bytes());
}

}  // namespace forebay
