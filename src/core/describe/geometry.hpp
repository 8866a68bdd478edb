// Boxes and their intersections, balanced shares, and walks over two strided layouts: the arithmetic of restarts on
// another number of ranks. Nothing here allocates or touches data.

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

/// Returns the common part of two boxes of equal dims, or nothing if it is empty.
std::optional<Box> intersect(const Box& a, const Box& b);

/// Returns true if `box` lies inside a global array of `shape`.
bool inside(const Box& box, const Extents& shape);

/// Returns the smallest box that contains both.
Box bounding(const Box& a, const Box& b);

/// Row-major strides of a packed box.
Strides packed_strides(const Extents& size, std::uint32_t element_bytes);

/// Returns the bytes from the element at `origin` to the element at global position `at`.
std::int64_t offset_bytes(const Extents& at, const Extents& origin, const Strides& strides);

/// Returns the box of `piece` with its halo, cut at `shape`.
Box grown(const Piece& piece, const Extents& shape);

/// Rows [first, first + count) of part `index` of `parts`: in order, with sizes that differ by at most 1.
struct RowRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    friend bool operator==(const RowRange&, const RowRange&) = default;
};
RowRange balanced_share(std::uint64_t total, std::uint32_t index, std::uint32_t parts);

/// Walks the runs of bytes that are contiguous in both layouts of a box of `size`, in row-major order. Offsets start at
/// the box's first element. The last dimensions are merged as long as both layouts are contiguous. An empty box has no
/// runs. A walk may pause and continue. If layout `a` is packed, its offsets rise.
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
    /// Returns the bytes of the whole walk, done or not.
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

    /// Only if layout `a` is packed, in this box or in a larger box. Goes to the run with byte `offset` of `a`, and
    /// returns the distance from the begin of the run. If no run has this byte, goes to the next run and returns 0.
    /// Without a next run the walk is done().
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
        // `offset` lies in a gap of `a` after this run.
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

/// Calls visit(offset_a, offset_b, bytes) for each run.
template <class Visit>
void for_each_run(const Extents& size, std::uint32_t element_bytes, const Strides& a, const Strides& b, Visit&& visit) {
    for (RunWalk walk(size, element_bytes, a, b); !walk.done(); walk.next())
        visit(walk.a(), walk.b(), walk.run_bytes());
}

}  // namespace forebay
