// Goal: moments are exact, for vectorised floats and for all other types, on each kind of processor, in any order and
// from any cuts.
// Method: seeded data of narrow, wide and all exponents, with NaN, infinities, zeros and the least floats, against
// exact sums of each value; shuffled, cut and merged from parts; the kernels of all kinds of processors compared.

#include "insight/insitu/moments.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/splitmix.hpp"
#include "insight/insitu/moments_kernels.hpp"
#include "support/wished_number.hpp"

namespace forebay::insitu {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const Moments<T>& moments) {
    PartWriter part;
    moments.write(part);
    return std::move(part).take();
}

template <class T>
Result<> read(Moments<T>& moments, std::span<const std::byte> bytes) {
    PartReader part(bytes, "moments");
    if (auto read = moments.read(part); !read) return read;
    return part.done();
}

template <class T>
Moments<T> moments_of(std::span<const T> values) {
    Moments<T> moments;
    moments.add(values);
    return moments;
}

std::vector<float> floats(const std::string& kind, std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto random = splitmix(seed, i);
        const auto fraction = static_cast<float>(random >> 40) * 0x1p-24f - 0.5f;
        if (kind == "narrow") values[i] = 300 + fraction;
        if (kind == "around 0") values[i] = fraction;
        if (kind == "wide") values[i] = std::ldexp(fraction, static_cast<int>(random % 60) - 30);
        if (kind == "any bits") values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random >> 32));
        if (kind == "least") values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random >> 32 & 0x80FFFFFFu));
        if (kind == "zeros") values[i] = (random & 1) != 0 ? -0.0f : 0.0f;
        if (kind == "none finite") values[i] = (random & 1) != 0 ? NAN : -INFINITY;
        if (kind == "largest") values[i] = std::numeric_limits<float>::max() * ((random & 1) != 0 ? 1.0f : -1.0f);
    }
    return values;
}

constexpr const char* kinds[] = {"narrow", "around 0", "wide", "any bits", "least", "zeros", "none finite", "largest"};

TEST_CASE("floats by vectors are as each of them by itself") {
    const auto seed = test::wished_number("FOREBAY_SEED", 21);
    for (const std::string kind : kinds)
        for (const std::size_t count : {0, 1, 15, 16, 17, 4095, 4096, 4097, 20000}) {
            CAPTURE(seed);
            CAPTURE(kind);
            CAPTURE(count);
            const auto values = floats(kind, count, seed);
            const auto moments = moments_of<float>(values);
            ExactSum sum, squares;
            std::uint64_t nan = 0, infinite = 0, finite = 0;
            std::vector<float> sorted;
            for (const float value : values) {
                if (std::isnan(value)) ++nan;
                else if (std::isinf(value)) ++infinite;
                else {
                    ++finite;
                    sum.add(value);
                    squares.add_square(value);
                    sorted.push_back(value);
                }
            }
            REQUIRE(moments.nan() == nan);
            REQUIRE(moments.infinite() == infinite);
            REQUIRE(moments.count() == finite);
            REQUIRE(moments.sum() == sum.rounded());
            if (finite == 0) {
                REQUIRE(std::isnan(moments.mean()));
                REQUIRE(std::isnan(moments.variance()));
                continue;
            }
            const auto [least, largest] = std::minmax_element(sorted.begin(), sorted.end());
            REQUIRE(moments.extremes().least == *least);
            REQUIRE(moments.extremes().largest == *largest);
            PartWriter part;  // the bits of the sums
            sum.write(part);
            squares.write(part);
            const auto sums = std::move(part).take();
            const auto whole = bytes_of(moments);
            REQUIRE(std::equal(sums.begin(), sums.end(), whole.begin() + 32, whole.end()));
        }
}

TEST_CASE("each kind of processor finds the same") {
    for (const std::string kind : kinds) {
        if (kind == "none finite" || kind == "any bits") continue;  // the sums do not contain these values unchanged
        CAPTURE(kind);
        const auto values = floats(kind, 4000, 22);
        const auto plain = vectorised_for<FindReach>(VectorTarget::portable, values.data(), values.size());
        for (const auto target : {VectorTarget::avx2, VectorTarget::avx512}) {
            if (!works(target)) continue;
            const auto reach = vectorised_for<FindReach>(target, values.data(), values.size());
            CHECK(reach.least == plain.least);
            CHECK(reach.largest == plain.largest);
            CHECK(reach.magnitude == plain.magnitude);
            Band expected, band;
            vectorised_for<SumBand>(VectorTarget::portable, values.data(), values.size(), plain.magnitude, &expected);
            vectorised_for<SumBand>(target, values.data(), values.size(), plain.magnitude, &band);
            CHECK(band.sum == expected.sum);
            CHECK(band.high == expected.high);
            CHECK(band.low == expected.low);
            CHECK(band.rest == expected.rest);
        }
    }
}

template <class T>
void check_order(std::vector<T> values, std::uint64_t seed) {
    const auto bytes = bytes_of(moments_of<T>(values));
    for (std::uint64_t times = 0; times < 3; ++times) {
        for (std::size_t i = values.size() - 1; i > 0; --i)
            std::swap(values[i], values[splitmix(seed + times, i) % (i + 1)]);
        REQUIRE(bytes_of(moments_of<T>(values)) == bytes);
        Moments<T> merged, cut;
        for (std::size_t at = 0; at < values.size();) {
            const auto count = std::min(values.size() - at, splitmix(seed, at) % 5000);
            const auto piece = std::span<const T>(values).subspan(at, count);
            Moments<T> other;
            REQUIRE(read(other, bytes_of(moments_of<T>(piece))));
            merged.merge(other);
            cut.add(piece);
            at += count;
        }
        REQUIRE(bytes_of(merged) == bytes);
        REQUIRE(bytes_of(cut) == bytes);
    }
}

TEST_CASE("any order, any cut and any parts give the same bytes") {
    const auto seed = test::wished_number("FOREBAY_SEED", 23);
    CAPTURE(seed);
    for (const std::string kind : kinds) {
        CAPTURE(kind);
        check_order(floats(kind, 20000, seed), seed);
    }
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<std::uint32_t> small;
    for (std::uint64_t i = 0; i < 9000; ++i) {
        doubles.push_back(std::bit_cast<double>(splitmix(seed, i)));
        integers.push_back(static_cast<std::int64_t>(splitmix(seed, i)));
        small.push_back(static_cast<std::uint32_t>(splitmix(seed, i)));
    }
    check_order(doubles, seed);
    check_order(integers, seed);
    check_order(small, seed);
}

template <class T>
void check_integers(std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values{Limits::min(), Limits::max(), 0, 1};
    for (std::uint64_t i = 0; i < 1000; ++i) values.push_back(static_cast<T>(splitmix(seed, i)));
    const auto moments = moments_of<T>(values);
    CHECK(moments.extremes().least == Limits::min());
    CHECK(moments.extremes().largest == Limits::max());
    long double sum = 0;
    for (const T value : values) sum += static_cast<long double>(value);
    long double squares = 0;
    const auto mean = sum / static_cast<long double>(values.size());
    for (const T value : values)
        squares += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean);
    CHECK(moments.mean() == doctest::Approx(static_cast<double>(mean)).epsilon(1e-14));
    CHECK(moments.variance() ==
          doctest::Approx(static_cast<double>(squares / static_cast<long double>(values.size()))).epsilon(1e-14));
}

TEST_CASE("integers keep their extremes, and their sums are those of long doubles") {
    check_integers<std::int32_t>(1);
    check_integers<std::int64_t>(2);
    check_integers<std::uint32_t>(3);
    check_integers<std::uint64_t>(4);
}

TEST_CASE("the variance is right beside a large mean, and where squares are no doubles") {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(1e9 + (i % 2) * 0x1p-20);
    CHECK(moments_of<double>(values).variance() == 0x1p-42);
    const std::vector<double> large{1.5e308, -1.5e308}, small{0x1p-1074, -0x1p-1074}, same{0.1, 0.1, 0.1};
    CHECK(moments_of<double>(large).mean() == 0);
    CHECK(moments_of<double>(large).variance() == std::numeric_limits<double>::infinity());
    CHECK(moments_of<double>(std::vector<double>{1.5e308, 1.5e308}).mean() == 1.5e308);
    CHECK(moments_of<double>(small).variance() == 0);
    CHECK(moments_of<double>(same).variance() == 0);
    CHECK(moments_of<double>(same).mean() == 0.1);
    CHECK(moments_of<float>(std::vector<float>{1, 2, 3, 4}).variance() == 1.25);
}

TEST_CASE("zeros have their sign") {
    const auto moments = moments_of<float>(std::vector<float>{0.0f, -0.0f, 0.0f});
    CHECK(std::signbit(moments.extremes().least));
    CHECK_FALSE(std::signbit(moments.extremes().largest));
    const auto doubles = moments_of<double>(std::vector<double>{0.0, -0.0, 0.0});
    CHECK(std::signbit(doubles.extremes().least));
    CHECK_FALSE(std::signbit(doubles.extremes().largest));
}

TEST_CASE("what is cut short or damaged is refused, or can be used") {
    const auto bytes = bytes_of(moments_of<float>(floats("any bits", 5000, 24)));
    Moments<float> moments;
    REQUIRE(read(moments, bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size) REQUIRE_FALSE(read(moments, std::span(bytes).first(size)));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        Moments<float> sum;
        if (!read(moments, damaged)) continue;
        sum.merge(moments);
        static_cast<void>(sum.variance());
    }
}

}  // namespace
}  // namespace forebay::insitu
