// Fills elements that no block holds: NaN if the type has one, else 0, and empty strings.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "forebay/describe.hpp"

namespace forebay::insitu {

/// `bytes` must hold a whole number of elements.
inline void fill_nothing(Type type, std::span<std::byte> bytes) {
    const auto fill = [&](auto value) {
        for (std::size_t at = 0; at + sizeof value <= bytes.size(); at += sizeof value)
            std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    switch (type.scalar) {
        case Scalar::f16: return fill(std::uint16_t{0x7E00});
        case Scalar::f32:
        case Scalar::c64: return fill(std::numeric_limits<float>::quiet_NaN());
        case Scalar::f64:
        case Scalar::c128: return fill(std::numeric_limits<double>::quiet_NaN());
        default: return fill(std::byte{0});
    }
}

}  // namespace forebay::insitu
