// Goal: palettes rise in lightness by even steps, so they can be read in grey. The palette around a middle is
// symmetric.
// Method: the lightness of every colour by Oklab, within the rounding of eight bits.

#include "insight/insitu/palette.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace forebay;
using namespace forebay::insitu;

TEST_CASE("lightness rises by even steps") {
    for (const auto palette : {Palette::ember, Palette::tide, Palette::grey}) {
        for (const std::size_t count : {std::size_t{2}, std::size_t{16}, std::size_t{250}}) {
            const auto colours = colours_of(palette, count);
            REQUIRE(colours.size() == count);
            const double first = lightness_of(colours.front()), last = lightness_of(colours.back());
            CHECK(last - first > 0.7);
            for (std::size_t i = 0; i < count; ++i) {
                const double even = first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1);
                CAPTURE(i);
                CHECK(std::abs(lightness_of(colours[i]) - even) < (even < 0.12 ? 0.06 : 0.015));
                if (i > 0) CHECK(lightness_of(colours[i]) >= lightness_of(colours[i - 1]) - 0.001);
            }
        }
    }
}

TEST_CASE("ends and the middle are what their names say") {
    const auto grey = colours_of(Palette::grey, 250);
    CHECK(grey.front() == Colour{0, 0, 0});
    CHECK(grey.back() == Colour{255, 255, 255});
    const auto balance = colours_of(Palette::balance, 251);
    CHECK(lightness_of(balance[125]) > 0.95);
    CHECK(balance.front().blue > balance.front().red);
    CHECK(balance.back().red > balance.back().blue);
    for (std::size_t i = 0; i <= 125; ++i) {
        CHECK(std::abs(lightness_of(balance[i]) - lightness_of(balance[250 - i])) < 0.006);
        if (i > 0) CHECK(lightness_of(balance[i]) >= lightness_of(balance[i - 1]) - 0.001);
    }
    const auto ember = colours_of(Palette::ember, 250);
    CHECK(ember.back().red > 240);
    CHECK(ember.back().blue < ember.back().green);
}
