// Goal: converted elements keep their values. Conversions that could lose values are refused.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/describe/convert.hpp"

using namespace forebay;

namespace {

template <class To, class From>
To converted(From value, Type from, Type to) {
    std::byte in[sizeof(From)], out[sizeof(To)];
    store_le(in, value);
    describe::conversion(from, to).value().run(out, in, 1);
    return load_le<To>(out);
}

}  // namespace

TEST_CASE("f16: every value, as IEEE 754 defines them") {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const auto number = converted<float>(half, f16, f32);
        const int exponent = (half >> 10) & 31, mantissa = half & 1023;
        const double sign = half >> 15 ? -1 : 1;
        CAPTURE(bits);
        REQUIRE(std::signbit(number) == (half >> 15 != 0));
        if (exponent == 31 && mantissa != 0) REQUIRE(std::isnan(number));
        else if (exponent == 31) REQUIRE(double{number} == sign * std::numeric_limits<double>::infinity());
        else if (exponent == 0) REQUIRE(double{number} == sign * std::ldexp(mantissa, -24));
        else REQUIRE(double{number} == sign * std::ldexp(1024 + mantissa, exponent - 25));
        if (exponent != 31) REQUIRE(converted<double>(half, f16, f64) == double{number});
    }
}

TEST_CASE("integers and floats that are wider take all values") {
    CHECK(converted<std::int64_t>(std::numeric_limits<std::int8_t>::min(), i8, i64) == -128);
    CHECK(converted<std::int32_t>(std::numeric_limits<std::uint16_t>::max(), u16, i32) == 65535);
    CHECK(converted<std::int64_t>(std::numeric_limits<std::uint32_t>::max(), u32, i64) == 4294967295);
    CHECK(converted<std::uint64_t>(std::uint8_t{255}, u8, u64) == 255);
    CHECK(converted<double>(0.1f, f32, f64) == double{0.1f});
    CHECK(converted<double>(std::numeric_limits<std::int32_t>::min(), i32, f64) == -2147483648.0);
}

TEST_CASE("64 bits with the other sign: as HDF5 converts them, the nearest value there is") {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{7}, std::numeric_limits<std::int64_t>::max()}) {
        CHECK(converted<std::uint64_t>(value, i64, u64) == static_cast<std::uint64_t>(value));
        CHECK(converted<std::int64_t>(static_cast<std::uint64_t>(value), u64, i64) == value);
    }
    CHECK(converted<std::uint64_t>(std::int64_t{-1}, i64, u64) == 0);
    CHECK(converted<std::int64_t>(std::numeric_limits<std::uint64_t>::max(), u64, i64) ==
          std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("many at once lie one after the other") {
    const std::vector<std::int16_t> from{-1, 2, -3};
    std::vector<std::int32_t> to(3);
    describe::conversion(i16, i32).value().run(reinterpret_cast<std::byte*>(to.data()),
                                               reinterpret_cast<const std::byte*>(from.data()), 3);
    CHECK(to == std::vector<std::int32_t>{-1, 2, -3});
}

TEST_CASE("equal types stay as they are; what might lose values is refused") {
    CHECK(bool(describe::conversion(c64, c64).value().run == nullptr));
    CHECK(bool(describe::conversion(string_of(6), string_of(6)).value().run == nullptr));
    const std::vector<std::pair<Type, Type>> lossy{{f64, f32}, {i8, u16},  {u64, i32},  {i32, f32},
                                                   {i64, f64}, {f16, i32}, {c64, c128}, {string_of(6), string_of(8)}};
    for (const auto& types : lossy) {
        CAPTURE(name_of(types.first));
        CAPTURE(name_of(types.second));
        const auto conversion = describe::conversion(types.first, types.second);
        REQUIRE_FALSE(conversion);
        CHECK(conversion.error().kind == ErrorKind::unsupported);
        CHECK(conversion.error().text().find(name_of(types.first)) != std::string::npos);
    }
}
