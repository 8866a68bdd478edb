// Goal: the guessed types of arrays are right.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "insight/foreign/contents.hpp"
#include "insight/foreign/evidence.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

template <class T>
std::vector<std::byte> bytes_of_numbers(const std::vector<T>& numbers, bool big_endian) {
    const auto bytes = std::as_bytes(std::span(numbers));
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    if (big_endian) swap_numbers(type_of<T>(), copy);
    return copy;
}

template <class T>
Type guessed(const std::vector<T>& numbers, bool big_endian = false) {
    const auto bytes = bytes_of_numbers(numbers, big_endian);
    return guess_type(bytes, bytes.size(), big_endian);
}

}  // namespace

TEST_CASE("floats and integers") {
    for (const bool big : {false, true}) {
        CAPTURE(big);
        CHECK(guessed(std::vector{1.5, -2.25e-30, 0.0, 9999999.9}, big) == f64);
        CHECK(guessed(std::vector{0.0, -0.0, 0.0}, big) == f64);
        CHECK(guessed(std::vector{0.0, -0.0, 300.0}, big) == f64);
        CHECK(guessed(std::vector<std::int64_t>{1, 0, -1, 200'000'000}, big) == i64);
        CHECK(guessed(std::vector<std::int32_t>{1, 2, 3, 4}, big) == i32);
        CHECK(guessed(std::vector<std::int32_t>{-1, -2, 3, -4}, big) == i32);
        CHECK(guessed(std::vector<std::int32_t>{1, 2, 3}, big) == i32);
        CHECK(guessed(std::vector<std::int8_t>{1, 2, 3}, big) == u8);
        CHECK(guessed(std::vector<double>{}, big) == f64);
    }
}

TEST_CASE("texts") {
    CHECK(is_text(bytes_of("cyclic  ")));
    CHECK_FALSE(is_text(bytes_of(std::string_view("cyc\0lic", 7))));
    CHECK_FALSE(is_text(bytes_of("caf\xc3\xa9")));
}

TEST_CASE("memory that nobody set is no integers") {
    for (const bool big : {false, true}) {
        CHECK(guessed(std::vector<std::int64_t>{808'402'640, 0, 0, 0, 0}, big) == f64);
        CHECK(guessed(std::vector<std::int64_t>{4711, 0, 0, 0, 0}, big) == f64);
        CHECK(guessed(std::vector<std::int64_t>{0x7f0c'e3a0'1b60, 0x558b'4c1d'02a0, 0, 0, 0}, big) == f64);
        CHECK(guessed(std::vector<std::int64_t>(8, 0x7f0c'e3a0'1b60), big) == f64);
        CHECK(guessed(std::vector<std::int32_t>{12, 0, 0, 7, 9, -3, 0, 0}, big) == i32);
    }
}

TEST_CASE("reals as simulations have them, and words that are none") {
    for (const bool big : {false, true}) {
        const auto real = [&](auto numbers) { return is_real(bytes_of_numbers(numbers, big), big); };
        CHECK(real(std::vector{0.0, -0.0, 0.125, 300.0}));
        CHECK(real(std::vector{9999999.9, -std::numeric_limits<double>::max()}));
        CHECK_FALSE(real(std::vector{0.0, 0.0}));  // tells no type
        CHECK_FALSE(real(std::vector{0.125, std::numeric_limits<double>::quiet_NaN()}));
        CHECK_FALSE(real(std::vector{0.125, std::numeric_limits<double>::infinity()}));
        CHECK_FALSE(real(std::vector<std::int32_t>{7, 7, 7, 7}));
        CHECK_FALSE(real(std::vector<std::int32_t>{-1, -2, 3, -4}));
        // Random numbers: some words look like floats, but hardly all.
        std::vector<std::int32_t> random(64);
        std::uint32_t word = 1;
        for (auto& number : random) number = static_cast<std::int32_t>(word = word * 1'664'525 + 1'013'904'223);
        CHECK_FALSE(real(random));
    }
}

TEST_CASE("reversed numbers: pairs number by number, strings not at all") {
    std::vector<std::byte> bytes(bytes_of("abcdefgh").begin(), bytes_of("abcdefgh").end());
    const auto swapped = [&](Type type) {
        auto copy = bytes;
        swap_numbers(type, copy);
        return std::string(text_of(copy));
    };
    CHECK(swapped(f64) == "hgfedcba");
    CHECK(swapped(i32) == "dcbahgfe");
    CHECK(swapped(c64) == "dcbahgfe");
    CHECK(swapped(i16) == "badcfehg");
    CHECK(swapped(u8) == "abcdefgh");
    CHECK(swapped(string_of(8)) == "abcdefgh");
}
