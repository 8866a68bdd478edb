#include "insitu/operators/doubles.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace forebay::insitu {

namespace {

template <class T>
void read_each(const std::byte* from, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        T value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] = static_cast<double>(value);
    }
}

double double_of_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 0) size = std::ldexp(fraction, -24);
    if (exponent == 31)
        size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return (bits & 0x8000u) != 0 ? -size : size;
}

void read_halves(const std::byte* from, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
        to[i] = double_of_half(bits);
    }
}

}  // namespace

bool is_real(Type type) {
    return type.scalar != Scalar::c64 && type.scalar != Scalar::c128 && type.scalar != Scalar::string;
}

bool is_long(Type type) { return type.size_bytes > 4; }

void read_doubles(Type type, const std::byte* from, std::span<double> to) {
    switch (type.scalar) {
        case Scalar::f16: return read_halves(from, to);
        case Scalar::f32: return read_each<float>(from, to);
        case Scalar::f64: return read_each<double>(from, to);
        case Scalar::i8: return read_each<std::int8_t>(from, to);
        case Scalar::i16: return read_each<std::int16_t>(from, to);
        case Scalar::i32: return read_each<std::int32_t>(from, to);
        case Scalar::i64: return read_each<std::int64_t>(from, to);
        case Scalar::u8: return read_each<std::uint8_t>(from, to);
        case Scalar::u16: return read_each<std::uint16_t>(from, to);
        case Scalar::u32: return read_each<std::uint32_t>(from, to);
        case Scalar::u64: return read_each<std::uint64_t>(from, to);
        case Scalar::c64:
        case Scalar::c128:
        case Scalar::string: break;
    }
}

}  // namespace forebay::insitu
