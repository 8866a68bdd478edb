#include "insight/views/tiling.hpp"

#include <algorithm>

#include "core/describe/geometry.hpp"

namespace forebay::views {

namespace {

std::uint64_t flat(const Extents& at, const Extents& origin, const Extents& size) {
    return static_cast<std::uint64_t>(offset_bytes(at, origin, packed_strides(size, 1)));
}

Extents zeros(int dims) {
    Extents at;
    for (int dim = 0; dim < dims; ++dim) at.push_back(0);
    return at;
}

Extents last_of(const Box& box) {
    auto at = box.lo;
    for (int dim = 0; dim < at.dims(); ++dim) at[dim] += box.size[dim] - 1;
    return at;
}

}  // namespace

std::vector<Box> slabs_of(const Extents& shape, std::uint64_t first, std::uint64_t end) {
    std::vector<Box> slabs;
    if (shape.dims() == 0 && first < end) slabs.emplace_back();
    if (shape.dims() == 0) return slabs;
    const auto strides = packed_strides(shape, 1);
    while (first < end) {
        // The slowest dimension with whole layers that begin here and end in the range.
        int dim = 0;
        std::uint64_t layer = 0;
        for (;; ++dim) {
            layer = static_cast<std::uint64_t>(strides[static_cast<std::size_t>(dim)]);
            if (first % layer == 0 && end - first >= layer) break;
        }
        Box slab{zeros(shape.dims()), shape};
        for (int outer = 0; outer <= dim; ++outer) {
            slab.lo[outer] =
                first / static_cast<std::uint64_t>(strides[static_cast<std::size_t>(outer)]) % shape[outer];
            slab.size[outer] = 1;
        }
        slab.size[dim] = std::min((end - first) / layer, shape[dim] - slab.lo[dim]);
        first += slab.size[dim] * layer;
        slabs.push_back(slab);
    }
    return slabs;
}

Tiling::Tiling(const Extents& shape, std::vector<Stored> boxes) : shape_(shape), boxes_(std::move(boxes)) {
    const auto origin = zeros(shape.dims());
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const auto& box = boxes_[i].box;
        if (volume(box.size) > 0)
            entries_.push_back({flat(box.lo, origin, shape), flat(last_of(box), origin, shape) + 1, i});
    }
    std::ranges::sort(entries_, {}, [](const Entry& entry) { return std::pair(entry.first, entry.box); });
    for (std::size_t i = 1; i < entries_.size(); ++i)
        entries_[i].reach = std::max(entries_[i].reach, entries_[i - 1].reach);
}

std::vector<Stored> Tiling::tiles(std::uint64_t first, std::uint64_t end) const {
    std::vector<Stored> pieces;
    const auto origin = zeros(shape_.dims());
    for (const auto& slab : slabs_of(shape_, first, end)) {
        const auto slab_first = flat(slab.lo, origin, shape_);
        const auto slab_end = flat(last_of(slab), origin, shape_) + 1;
        auto entry = std::ranges::upper_bound(entries_, slab_first, {}, &Entry::reach);
        for (; entry != entries_.end() && entry->first < slab_end; ++entry) {
            auto part = boxes_[entry->box];
            const auto common = intersect(slab, part.box);
            if (!common) continue;
            // A slab has single layers of slower dimensions and all layers of faster dimensions. So its overlap with a
            // box is one stretch of the packed box.
            part.first_element += flat(common->lo, part.box.lo, part.box.size);
            part.box = *common;
            pieces.push_back(part);
        }
    }
    return pieces;
}

}  // namespace forebay::views
