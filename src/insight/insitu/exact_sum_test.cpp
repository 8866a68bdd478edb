// Goal: a sum of doubles, and of their squares, is exact over the whole range of doubles, in any order.
// Method: sums with known values; random doubles of narrow and of all exponents, added in shuffled orders and merged
// from parts, against quadruple precision if it is exact; every cut and damage of the bytes.

#include "insight/insitu/exact_sum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/splitmix.hpp"
#include "support/wished_number.hpp"

namespace forebay::insitu {
namespace {

std::vector<std::byte> bytes_of(const ExactSum& sum) {
    PartWriter part;
    sum.write(part);
    return std::move(part).take();
}

Result<> read(ExactSum& sum, std::span<const std::byte> bytes) {
    PartReader part(bytes, "a sum");
    if (auto read = sum.read(part); !read) return read;
    return part.done();
}

ExactSum sum_of(const std::vector<double>& values) {
    ExactSum sum;
    for (const double value : values) sum.add(value);
    return sum;
}

/// The sum times 2^`exponent`.
double scaled(const ExactSum& sum, int exponent) {
    auto leading = sum.leading();
    leading.exponent += exponent;
    return leading.rounded();
}

double any_finite(std::uint64_t seed, std::uint64_t index) {
    const auto value = std::bit_cast<double>(splitmix(seed, index));
    return std::isfinite(value) ? value : static_cast<double>(index);
}

TEST_CASE("sums of which the exact value is known") {
    constexpr double largest = std::numeric_limits<double>::max();
    constexpr double least = std::numeric_limits<double>::denorm_min();
    CHECK(ExactSum().rounded() == 0);
    CHECK(sum_of({1e300, 1, -1e300}).rounded() == 1);
    CHECK(sum_of({largest, least, -largest}).rounded() == least);
    CHECK(sum_of({largest, largest, -largest}).rounded() == largest);
    CHECK(sum_of({largest, largest}).rounded() == std::numeric_limits<double>::infinity());
    CHECK(sum_of({-largest, -largest}).rounded() == -std::numeric_limits<double>::infinity());
    CHECK(sum_of({-least, -least}).rounded() == -2 * least);
    CHECK(sum_of({1, -1}).rounded() == 0);
    CHECK(sum_of({-0.0}).rounded() == 0);
}

TEST_CASE("rounding is to the nearest double, and to the even one of two") {
    constexpr double half = 0x1p-53, little = 0x1p-1074;
    CHECK(sum_of({1, half}).rounded() == 1);
    CHECK(sum_of({1, half, little}).rounded() == 1 + 0x1p-52);
    CHECK(sum_of({1 + 0x1p-52, half}).rounded() == 1 + 0x1p-51);
    CHECK(sum_of({-1, -half, -little}).rounded() == -1 - 0x1p-52);
    ExactSum square;  // below the least double: 2^-1076, then 3 * 2^-1076, and half of the least
    square.add_square(0x1p-538);
    CHECK(square.rounded() == 0);
    square.add_square(0x1p-538);
    CHECK(square.rounded() == 0);
    square.add_square(0x1p-538);
    CHECK(square.rounded() == little);
    CHECK(scaled(square, 1076) == 3);
}

TEST_CASE("a quotient is rounded once") {
    CHECK(sum_of({0.1, 0.1, 0.1}).leading().over(3).rounded() == 0.1);
    CHECK(sum_of({-1}).leading().over(3).rounded() == -1.0 / 3);
    CHECK(sum_of({1}).leading().over(~0ull).rounded() == 0x1p-64);
    CHECK(sum_of({0x1p-1074, 0x1p-1073}).leading().over(2).rounded() == 0x1p-1073);  // 1.5, a tie to even
    CHECK(ExactSum().leading().over(5).rounded() == 0);
}

TEST_CASE("squares of the least and of the largest double") {
    constexpr double largest = std::numeric_limits<double>::max();
    ExactSum squares;
    squares.add_square(largest);
    CHECK(scaled(squares, -2040) == doctest::Approx(256));
    ExactSum small;
    small.add_square(std::numeric_limits<double>::denorm_min());
    CHECK(scaled(small, 2148) == 1);
    small.merge(squares);
    ExactSum one_less = small.times_less_square(1, sum_of({largest}));
    CHECK(scaled(one_less, 2148) == 1);
}

TEST_CASE("any order and any parts give the same bytes") {
    const auto seed = test::wished_number("FOREBAY_SEED", 11);
    CAPTURE(seed);
    std::vector<double> values;
    for (std::uint64_t i = 0; i < 2000; ++i) values.push_back(any_finite(seed, i));
    const auto sum = sum_of(values);
    const auto bytes = bytes_of(sum);
    for (int times = 0; times < 5; ++times) {
        for (std::size_t i = values.size() - 1; i > 0; --i)
            std::swap(values[i], values[splitmix(seed + 1 + static_cast<std::uint64_t>(times), i) % (i + 1)]);
        CHECK(bytes_of(sum_of(values)) == bytes);
        ExactSum merged;
        for (std::size_t at = 0; at < values.size(); at += 270) {
            const auto end = std::min(values.size(), at + 270);
            const auto part = bytes_of(sum_of({values.data() + at, values.data() + end}));
            ExactSum other;
            REQUIRE(read(other, part));
            merged.merge(other);
        }
        CHECK(bytes_of(merged) == bytes);
    }
    for (const double value : std::vector(values)) values.push_back(-value);
    CHECK(sum_of(values).rounded() == 0);
    CHECK(bytes_of(sum_of(values)) == bytes_of(ExactSum()));
}

TEST_CASE("as quadruple precision has it, where that is exact") {
    const auto seed = test::wished_number("FOREBAY_SEED", 12);
    CAPTURE(seed);
    for (std::uint64_t run = 0; run < 200; ++run) {
        ExactSum sum, squares;
        long double plain = 0;  // 64 bits hold multiples of 2^-40 below 2^20
        long double plain_squares = 0;
        for (std::uint64_t i = 0; i < 50; ++i) {
            const auto units = static_cast<std::int64_t>(splitmix(seed + run, i) % (1u << 28)) - (1 << 27);
            const double value = std::ldexp(static_cast<double>(units), -20);
            sum.add(value);
            squares.add_square(value);
            plain += value;
            plain_squares += static_cast<long double>(value) * value;
        }
        REQUIRE(sum.rounded() == static_cast<double>(plain));
        REQUIRE(squares.rounded() == static_cast<double>(plain_squares));
    }
}

TEST_CASE("what is cut short or damaged is refused, or is another sum") {
    const auto bytes = bytes_of(sum_of({1e300, -3, 1e-300}));
    ExactSum sum;
    CHECK(read(sum, bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size) REQUIRE_FALSE(read(sum, std::span(bytes).first(size)));
    for (std::size_t at = 0; at < 16; ++at) {  // the first limb, and the count of limbs
        auto damaged = bytes;
        damaged[at] ^= std::byte{0x80};
        REQUIRE_FALSE(read(sum, damaged));
    }
    for (std::size_t at = 16; at < bytes.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            auto damaged = bytes;
            damaged[at] ^= static_cast<std::byte>(1 << bit);
            if (read(sum, damaged)) static_cast<void>(sum.times_less_square(7, sum).rounded());
        }
}

}  // namespace
}  // namespace forebay::insitu
