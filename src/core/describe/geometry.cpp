#include "core/describe/geometry.hpp"

#include <algorithm>

namespace forebay {

std::uint64_t volume(const Extents& size) {
    std::uint64_t product = 1;
    for (int dim = 0; dim < size.dims(); ++dim) product *= size[dim];
    return product;
}

std::optional<Box> intersect(const Box& a, const Box& b) {
    Box common;
    for (int dim = 0; dim < a.lo.dims(); ++dim) {
        const auto lo = std::max(a.lo[dim], b.lo[dim]);
        const auto hi = std::min(a.lo[dim] + a.size[dim], b.lo[dim] + b.size[dim]);
        if (lo >= hi) return std::nullopt;
        common.lo.push_back(lo);
        common.size.push_back(hi - lo);
    }
    return common;
}

bool inside(const Box& box, const Extents& shape) {
    if (box.lo.dims() != shape.dims() || box.size.dims() != shape.dims()) return false;
    for (int dim = 0; dim < shape.dims(); ++dim)
        // Not lo + size, because the sum could overflow.
        if (box.lo[dim] > shape[dim] || box.size[dim] > shape[dim] - box.lo[dim]) return false;
    return true;
}

Box bounding(const Box& a, const Box& b) {
    Box both;
    for (int dim = 0; dim < a.lo.dims(); ++dim) {
        const auto lo = std::min(a.lo[dim], b.lo[dim]);
        both.lo.push_back(lo);
        both.size.push_back(std::max(a.lo[dim] + a.size[dim], b.lo[dim] + b.size[dim]) - lo);
    }
    return both;
}

Strides packed_strides(const Extents& size, std::uint32_t element_bytes) {
    Strides strides{};
    std::int64_t stride = element_bytes;
    for (int dim = size.dims() - 1; dim >= 0; --dim) {
        strides[static_cast<std::size_t>(dim)] = stride;
        stride *= static_cast<std::int64_t>(size[dim]);
    }
    return strides;
}

std::int64_t offset_bytes(const Extents& at, const Extents& origin, const Strides& strides) {
    std::int64_t offset = 0;
    for (int dim = 0; dim < at.dims(); ++dim)
        offset += (static_cast<std::int64_t>(at[dim]) - static_cast<std::int64_t>(origin[dim])) *
                  strides[static_cast<std::size_t>(dim)];
    return offset;
}

Box grown(const Piece& piece, const Extents& shape) {
    Box box = piece.box;
    for (int dim = 0; dim < std::min(shape.dims(), piece.halo_lo.dims()); ++dim) {
        const auto below = std::min(piece.halo_lo[dim], box.lo[dim]);
        box.lo[dim] -= below;
        box.size[dim] += below;
    }
    for (int dim = 0; dim < std::min(shape.dims(), piece.halo_hi.dims()); ++dim)
        box.size[dim] += std::min(piece.halo_hi[dim], shape[dim] - box.lo[dim] - box.size[dim]);
    return box;
}

RowRange balanced_share(std::uint64_t total, std::uint32_t index, std::uint32_t parts) {
    const auto base = total / parts;
    // The first `extra` parts get one row more.
    const auto extra = total % parts;
    return {index * base + std::min<std::uint64_t>(index, extra), base + (index < extra ? 1 : 0)};
}

Piece packed(const Box& box, Type type, void* data) {
    Piece piece{.box = box, .data = data};
    piece.stride_bytes = packed_strides(box.size, type.size_bytes);
    return piece;
}

Piece with_halo(const Box& box, const Extents& halo, Type type, void* allocation) {
    Piece piece{.box = box, .halo_lo = halo, .halo_hi = halo};
    Extents whole = box.size;
    for (int dim = 0; dim < std::min(whole.dims(), halo.dims()); ++dim) whole[dim] += 2 * halo[dim];
    piece.stride_bytes = packed_strides(whole, type.size_bytes);
    std::int64_t first = 0;
    for (int dim = 0; dim < std::min(whole.dims(), halo.dims()); ++dim)
        first += static_cast<std::int64_t>(halo[dim]) * piece.stride_bytes[static_cast<std::size_t>(dim)];
    piece.data = static_cast<std::byte*>(allocation) + first;
    return piece;
}

}  // namespace forebay
