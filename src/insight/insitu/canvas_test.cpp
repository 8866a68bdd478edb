// Goal: a canvas has paper, greys and ink of the requested darkness, and drawing clips at its edges.
// Method: pixels of small pictures.

#include "insight/insitu/canvas.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace forebay::insitu;

TEST_CASE("darkness becomes paper, three greys and ink") {
    const Canvas canvas(3, 2, {0, 31, 32, 128, 223, 255});
    const std::vector<std::uint8_t> expected{Canvas::paper, 0, 1, 2, 3, Canvas::ink};
    CHECK(std::ranges::equal(canvas.pixels(), expected));
}

TEST_CASE("nothing is drawn beyond the edges") {
    std::mt19937_64 random(71);
    for (int round = 0; round < 300; ++round) {
        Canvas canvas(30, 20);
        const auto place = [&] { return static_cast<int>(random() % 80) - 40; };
        canvas.fill(place(), place(), place(), place(), 7);
        canvas.frame(place(), place(), 20, 20, 3);
        CHECK(std::ranges::all_of(canvas.pixels(), [](int pixel) { return pixel <= 4 || pixel == 7; }));
    }
    Canvas canvas(4, 3);
    canvas.fill(-1, 1, 3, 9, 7);
    const std::vector<std::uint8_t> expected{0, 0, 0, 0, 7, 7, 0, 0, 7, 7, 0, 0};
    CHECK(std::ranges::equal(canvas.pixels(), expected));
}
