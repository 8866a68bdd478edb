#include "insight/outline/outline.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace forebay::outline {

void set(std::vector<Outline::Attribute>& attributes, Outline::Attribute attribute) {
    const auto match = std::ranges::find(attributes, attribute.name, &Outline::Attribute::name);
    if (match == attributes.end()) attributes.push_back(std::move(attribute));
    else match->value = std::move(attribute.value);
}

std::vector<std::byte> fill_of(Type shown) {
    std::vector<std::byte> fill(shown.size_bytes);
    const auto put = [&](auto value) {
        for (std::size_t at = 0; at < fill.size(); at += sizeof value)
            std::memcpy(fill.data() + at, &value, sizeof value);
    };
    if (shown.scalar == Scalar::f32 || shown.scalar == Scalar::c64) put(std::numeric_limits<float>::quiet_NaN());
    if (shown.scalar == Scalar::f64 || shown.scalar == Scalar::c128) put(std::numeric_limits<double>::quiet_NaN());
    return fill;
}

std::string fill_text(Type shown) {
    switch (shown.scalar) {
        case Scalar::f32:
        case Scalar::f64: return "NaN";
        case Scalar::c64:
        case Scalar::c128: return "NaN+NaNi";
        case Scalar::string: return "";
        default: return "0";
    }
}

Box placed_in(const Outline::Dataset& dataset, const Outline::Shows& shows, const Box& box) {
    if (shows.first.dims() == 0) return box;
    Box placed{shows.first, {}};
    const int leading = dataset.shape.dims() - box.size.dims();
    for (int dim = 0; dim < leading; ++dim) placed.size.push_back(1);
    for (int dim = 0; dim < box.size.dims(); ++dim) {
        placed.lo[leading + dim] += box.lo[dim];
        placed.size.push_back(box.size[dim]);
    }
    return placed;
}

}  // namespace forebay::outline
