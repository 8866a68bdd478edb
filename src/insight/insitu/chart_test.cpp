// Goal: a chart shows its lines where their numbers are, apart from each other and from what is written around them.
// Method: pictures decoded again: colours of lines at the places of points, gaps without ink, and paper at the edges,
// for charts of any size, with any words and numbers.

#include "insight/insitu/chart.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "insight/insitu/png.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

Photo drawn(const Chart& chart) { return decode_png(draw_png(chart).value(), "chart").value(); }

bool is_paper(const Photo& photo, std::size_t x, std::size_t y) {
    const auto* const pixel = photo.pixels.data() + 3 * (y * photo.width + x);
    return pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255;
}

/// Pixels whose colour is that of the first line: blue.
std::vector<std::pair<std::size_t, std::size_t>> blue_pixels(const Photo& photo) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t y = 0; y < photo.height; ++y)
        for (std::size_t x = 0; x < photo.width; ++x) {
            const auto* const pixel = photo.pixels.data() + 3 * (y * photo.width + x);
            if (pixel[0] == 0 && pixel[1] == 114 && pixel[2] == 178) found.emplace_back(x, y);
        }
    return found;
}

Chart one_line(std::vector<double> x, std::vector<double> y, bool log = false) {
    Chart chart{.title = "stream   steps 1 to 5", .x_label = "step", .log_x = log, .panels = {}};
    chart.panels.push_back(
        {.label = "u [K]", .log = log, .lines = {{.label = "u", .x = x, .y = y, .has_marks = true}}});
    return chart;
}

}  // namespace

TEST_CASE("a line goes from its first point to its last, linear and by the logarithm") {
    const auto rising = blue_pixels(drawn(one_line({0, 10}, {0, 5})));
    REQUIRE(rising.size() > 500);
    // From the lower left to the upper right, on a straight line.
    const auto [left, bottom] = *std::ranges::min_element(rising);
    const auto [right, top] = *std::ranges::max_element(rising);
    CHECK(right > left + 600);
    CHECK(bottom > top + 300);
    for (const auto& [x, y] : rising) {
        const double share = static_cast<double>(x - left) / static_cast<double>(right - left);
        const double expected = static_cast<double>(bottom) - share * static_cast<double>(bottom - top);
        CHECK(std::abs(static_cast<double>(y) - expected) < 8);
    }
    // y = x^2 is as straight where both axes are logarithmic.
    std::vector<double> x, y;
    for (double at = 1; at < 1e3; at *= 1.5) x.push_back(at), y.push_back(at * at);
    const auto square = blue_pixels(drawn(one_line(x, y, true)));
    const auto begin = *std::ranges::min_element(square), end = *std::ranges::max_element(square);
    for (const auto& [column, row] : square) {
        const double share = static_cast<double>(column - begin.first) / static_cast<double>(end.first - begin.first);
        const double expected =
            static_cast<double>(begin.second) - share * static_cast<double>(begin.second - end.second);
        CHECK(std::abs(static_cast<double>(row) - expected) < 8);
    }
}

TEST_CASE("what an axis cannot show is a gap") {
    const auto nan = std::nan("");
    const auto whole = blue_pixels(drawn(one_line({0, 1, 2, 3}, {1, 1, 1, 1}))).size();
    const auto gap = blue_pixels(drawn(one_line({0, 1, 2, 3}, {1, nan, 1, 1}))).size();
    CHECK(gap < whole / 2);
    CHECK(gap > whole / 5);
    CHECK_FALSE(draw_png(one_line({0, 1}, {nan, nan})));
    const auto negative = draw_png(one_line({1, 2}, {-1, 0}, true));
    REQUIRE_FALSE(negative);
    CHECK(negative.error().what == "'u [K]' has no value that is above 0 and so can be drawn");
    CHECK_FALSE(draw_png(Chart{}));
}

TEST_CASE("values that differ by their rounding alone are a level line") {
    const double one = 1.25, next = std::nextafter(one, 2.0);
    const auto level = blue_pixels(drawn(one_line({0, 1, 2, 3}, {one, next, one, next})));
    const auto flat = blue_pixels(drawn(one_line({0, 1, 2, 3}, {one, one, one, one})));
    CHECK(level == flat);
}

TEST_CASE("lines that cannot be told apart are refused") {
    auto chart = one_line({0, 1}, {0, 1});
    chart.panels[0].lines.resize(chart_lines_max, chart.panels[0].lines[0]);
    CHECK(draw_png(chart));
    chart.panels[0].lines.push_back(chart.panels[0].lines[0]);
    CHECK_FALSE(draw_png(chart));
}

TEST_CASE("whatever is drawn, the picture has paper around it") {
    std::mt19937_64 random(17);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        Chart chart{.title = std::string(random() % 200, 'W'),
                    .x_label = std::string(random() % 200, 'x'),
                    .log_x = random() % 2 == 0,
                    .is_ordered = random() % 2 == 0,
                    .panels = {},
                    .pixels = static_cast<int>(200 + random() % 1500)};
        const auto number = [&] {
            return std::ldexp(static_cast<double>(random() % 1000) - 300, static_cast<int>(random() % 80) - 40);
        };
        for (auto panel = 1 + random() % 4; panel > 0; --panel) {
            ChartPanel made{.label = std::string(random() % 100, 'u'), .lines = {}};
            for (auto line = 1 + random() % 12; line > 0; --line) {
                ChartLine points{.label = std::string(random() % 60, 'l'), .x = {}, .y = {}, .has_marks = true};
                for (auto point = 1 + random() % 30; point > 0; --point) {
                    points.x.push_back(std::abs(number()) + 1);
                    points.y.push_back(number());
                }
                made.lines.push_back(points);
            }
            chart.panels.push_back(made);
        }
        const auto photo = drawn(chart);
        for (std::size_t x = 0; x < photo.width; ++x) {
            CHECK(is_paper(photo, x, 0));
            CHECK(is_paper(photo, x, photo.height - 1));
        }
        for (std::size_t y = 0; y < photo.height; ++y) {
            CHECK(is_paper(photo, 0, y));
            CHECK(is_paper(photo, photo.width - 1, y));
        }
    }
}
