// Goal: encoded data decode to the same data, or to data within the requested bound. Damage is an error. Data that do
//       not get smaller are not stored.
// Method: data that compress well, badly and not at all, of every type, through both filters.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/base/try.hpp"
#include "core/codec/codec.hpp"

using namespace forebay;

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of_wave(std::size_t count) {
    Bytes bytes(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
        const T value = static_cast<T>(std::sin(static_cast<double>(i) / 50) * 100);
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return bytes;
}

Bytes noise(std::size_t count) {
    std::mt19937_64 random(5);
    Bytes bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

Result<Bytes> encoded(const codec::Filter& filter, const Bytes& plain, codec::Level level = {Codec::zstd, 3}) {
    Bytes out(plain.size() - 1);
    FB_TRY_ASSIGN(bytes, codec::encode(filter, level, plain, out));
    out.resize(bytes);
    return out;
}

template <class T>
double largest_error(const Bytes& a, const Bytes& b) {
    double largest = 0;
    for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
        T x, y;
        std::memcpy(&x, a.data() + at, sizeof x);
        std::memcpy(&y, b.data() + at, sizeof y);
        largest = std::max(largest, std::abs(static_cast<double>(x) - static_cast<double>(y)));
    }
    return largest;
}

}  // namespace

TEST_CASE("Blosc gives back every byte, at every level, shuffle and type") {
    const auto plain = bytes_of_wave<double>(10'000);
    for (const auto type : {f64, f32, c128, u8, i16, string_of(7)}) {
        for (const auto shuffle : {Shuffle::none, Shuffle::bytes, Shuffle::bits}) {
            const auto filter = codec::blosc_filter(type, shuffle, plain.size());
            for (int level = 1; level <= 9; ++level) {
                for (const auto compressor : {Codec::lz4, Codec::zstd}) {
                    const auto stored = encoded(filter, plain, {compressor, level}).value();
                    if (stored.empty()) continue;  // lz4 cannot compress some of them
                    Bytes back(plain.size());
                    REQUIRE(codec::decode(filter, stored, back));
                    CHECK(back == plain);
                }
            }
        }
    }
    CHECK(encoded(codec::blosc_filter(f64, Shuffle::bytes, plain.size()), plain).value().size() < plain.size() * 4 / 5);
}

TEST_CASE("what does not get smaller says so") {
    const auto plain = noise(100'000);
    for (const auto compressor : {Codec::lz4, Codec::zstd})
        CHECK(encoded(codec::blosc_filter(u8, Shuffle::none, plain.size()), plain, {compressor, 1}).value().empty());
    CHECK(encoded(codec::zfp_filter(f64, {plain.size() / 8}, 0), plain).value().empty());
}

TEST_CASE("zfp stays within its bound, for fields of 1 to 3 dimensions, and without a bound loses nothing") {
    const auto doubles = bytes_of_wave<double>(32 * 20 * 16);
    const auto floats = bytes_of_wave<float>(32 * 20 * 16);
    for (const auto& field : {Extents{32 * 20 * 16}, Extents{32 * 20, 16}, Extents{32, 20, 16}}) {
        // Values reach 100, so f32 has no digits below 1e-5.
        for (const double error : {0.0, 1e-4, 1e-2, 1.0}) {
            for (const auto& [type, plain] : {std::pair{f64, doubles}, std::pair{f32, floats}}) {
                CAPTURE(error);
                const auto filter = codec::zfp_filter(type, field, error);
                const auto stored = encoded(filter, plain).value();
                REQUIRE_FALSE(stored.empty());
                Bytes back(plain.size());
                REQUIRE(codec::decode(filter, stored, back));
                const double worst =
                    type == f64 ? largest_error<double>(plain, back) : largest_error<float>(plain, back);
                CHECK(worst <= error);
                if (error == 0) CHECK(back == plain);
            }
        }
    }
    CHECK(codec::zfp_takes(f32));
    CHECK_FALSE(codec::zfp_takes(c64));
    CHECK_FALSE(codec::zfp_takes(i32));
}

TEST_CASE("zfp's client data are those that the HDF5 filter H5Z-ZFP writes") {
    // H5Z-ZFP 1.1.1 writes this for 500 f64 in chunks, behind its versions: with accuracy 1e-3, then reversible.
    const std::vector<std::uint32_t> accuracy{91252346, 7987, 3398434816}, reversible{91252346, 7987, 2281701376};
    const auto values = [](double error) {
        auto filter = codec::zfp_filter(f64, {500}, error);
        return std::vector(filter.values.begin() + 1, filter.values.end());
    };
    CHECK(values(1e-3) == accuracy);
    CHECK(values(0) == reversible);
}

TEST_CASE("damage is an error, never more or fewer bytes than asked for") {
    const auto plain = bytes_of_wave<float>(5'000);
    for (const auto& filter :
         {codec::blosc_filter(f32, Shuffle::bytes, plain.size()), codec::zfp_filter(f32, {5'000}, 1e-4)}) {
        const auto stored = encoded(filter, plain).value();
        REQUIRE_FALSE(stored.empty());
        Bytes back(plain.size()), longer(plain.size() + 4);
        CHECK_FALSE(codec::decode(filter, stored, longer));
        CHECK_FALSE(codec::decode({filter.id, {1}}, stored, filter.id == codec::blosc_id ? longer : back));
        CHECK(codec::decode({1, {}}, stored, back).error().kind == ErrorKind::unsupported);
        if (filter.id != codec::blosc_id) continue;  // zfp accepts any bits
        CHECK(codec::decode(filter, std::span(stored).first(stored.size() / 2), back).error().kind ==
              ErrorKind::corrupt);
        CHECK(codec::decode(filter, {}, back).error().kind == ErrorKind::corrupt);
    }
}

TEST_CASE("a mode of zfp's that nobody writes here is refused: at one bit a block zfp would read without bounds") {
    const codec::Filter filter{codec::zfp_id, {0x5000'5110, 0x0570'667a, 0x2003, 0}};  // 513 doubles
    Bytes stored(36), back(513 * 8);
    CHECK(codec::decode(filter, stored, back).error().kind == ErrorKind::unsupported);
}
