// Goal: the types of arrays that nobody has written down are judged rightly from their bytes.

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "foreign/contents.hpp"
#include "foreign/evidence.hpp"

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
        CHECK(guessed(std::vector<std::int64_t>{1, 0, -1, 2'000'000'000}, big) == i64);
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

TEST_CASE("surface data are counts and values, for each column of the grid") {
    const auto walks = [](std::vector<double> numbers, std::uint64_t columns, std::size_t at_once) {
        for (const bool big : {false, true}) {
            const auto bytes = bytes_of_numbers(numbers, big);
            SurfaceWalk walk(columns);
            bool good = true;
            for (std::size_t at = 0; good && at < bytes.size(); at += at_once)
                good = walk.take(std::span(bytes).subspan(at, std::min(at_once, bytes.size() - at)), big);
            if (!(good && walk.ends_well())) return false;
        }
        return true;
    };
    for (const std::size_t at_once : {std::size_t{8}, std::size_t{16}, std::size_t{1024}}) {
        CHECK(walks({1, 0.5, 0, 2, 7.5, 8.5}, 3, at_once));
        CHECK(walks({1, 280.5, 1, 281.5}, 2, at_once));
        CHECK_FALSE(walks({1, 0.5, 0, 2, 7.5, 8.5}, 4, at_once));  // a column is missing
        CHECK_FALSE(walks({1, 0.5, 0, 2, 7.5, 8.5}, 2, at_once));  // one too many
        CHECK_FALSE(walks({1, 0.5, 0, 2, 7.5}, 3, at_once));       // the last one is cut
        CHECK_FALSE(walks({280.5, 281.5, 1, 1}, 2, at_once));      // soil: no counts
        CHECK_FALSE(walks({-1, 1}, 2, at_once));
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
