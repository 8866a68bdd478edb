// The bytes of elements that are not there: NaN of types that have one, else 0, and strings without a letter.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "forebay/describe.hpp"

namespace forebay::insitu {

/// `bytes` is a whole number of elements long.
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
