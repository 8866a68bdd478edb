#include "core/describe/convert.hpp"

#include <bit>
#include <concepts>
#include <limits>

#include "core/base/bytes.hpp"

namespace forebay::describe {

namespace {

struct Half {
    std::uint16_t bits;
};

float number(Half half) {
    const std::uint32_t sign = (half.bits & 0x8000u) << 16;
    const std::uint32_t exponent = (half.bits >> 10) & 0x1Fu;
    const std::uint32_t mantissa = half.bits & 0x3FFu;
    // Infinity and NaN. Below, 112 is 127 - 15, the difference of the exponent biases.
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const auto small = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal numbers, exactly
    return sign != 0 ? -small : small;
}
template <class T>
T number(T value) {
    return value;
}

/// 64-bit integers that differ only in the sign. A value out of range becomes the nearest value, as HDF5 does in a
/// view.
template <class From, class To>
constexpr bool is_other_sign() {
    return std::integral<From> && std::integral<To> && sizeof(From) == 8 && sizeof(To) == 8;
}

template <class To, class From>
To as(From value) {
    if constexpr (std::same_as<From, std::int64_t> && std::same_as<To, std::uint64_t>)
        return value < 0 ? 0 : static_cast<To>(value);
    else if constexpr (std::same_as<From, std::uint64_t> && std::same_as<To, std::int64_t>)
        return value > std::numeric_limits<To>::max() ? std::numeric_limits<To>::max() : static_cast<To>(value);
    else return static_cast<To>(value);
}

template <class From, class To>
void convert(std::byte* to, const std::byte* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
        store_le(to + i * sizeof(To), as<To>(number(load_le<From>(from + i * sizeof(From)))));
}

/// Returns true if To holds each value of From.
template <class From, class To>
constexpr bool holds() {
    if constexpr (std::same_as<From, Half>) return std::floating_point<To>;
    else if constexpr ((std::floating_point<From> && !std::floating_point<To>) ||
                       (std::signed_integral<From> && std::unsigned_integral<To>))
        return false;
    else return std::numeric_limits<From>::digits <= std::numeric_limits<To>::digits;
}

template <class From, class To>
Conversion if_holds() {
    if constexpr (holds<From, To>() || is_other_sign<From, To>()) return {convert<From, To>};
    else return {};
}

template <class From>
Conversion to_type(Scalar to) {
    switch (to) {
        case Scalar::f32: return if_holds<From, float>();
        case Scalar::f64: return if_holds<From, double>();
        case Scalar::i16: return if_holds<From, std::int16_t>();
        case Scalar::i32: return if_holds<From, std::int32_t>();
        case Scalar::i64: return if_holds<From, std::int64_t>();
        case Scalar::u16: return if_holds<From, std::uint16_t>();
        case Scalar::u32: return if_holds<From, std::uint32_t>();
        case Scalar::u64: return if_holds<From, std::uint64_t>();
        default: return {};
    }
}

Conversion find(Scalar from, Scalar to) {
    switch (from) {
        case Scalar::f16: return to_type<Half>(to);
        case Scalar::f32: return to_type<float>(to);
        case Scalar::i8: return to_type<std::int8_t>(to);
        case Scalar::i16: return to_type<std::int16_t>(to);
        case Scalar::i32: return to_type<std::int32_t>(to);
        case Scalar::i64: return to_type<std::int64_t>(to);
        case Scalar::u8: return to_type<std::uint8_t>(to);
        case Scalar::u16: return to_type<std::uint16_t>(to);
        case Scalar::u32: return to_type<std::uint32_t>(to);
        case Scalar::u64: return to_type<std::uint64_t>(to);
        default: return {};
    }
}

}  // namespace

Result<Conversion> conversion(Type from, Type to) {
    if (from == to) return Conversion{};
    if (const auto conversion = find(from.scalar, to.scalar); conversion.run != nullptr) return conversion;
    return Error{ErrorKind::unsupported, "elements of type " + name_of(from) + " cannot be stored as " + name_of(to) +
                                             " without loss of some values"};
}

}  // namespace forebay::describe
