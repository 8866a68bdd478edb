// Goal: marks of axes are round, rise, lie on the axis, are no more than wanted, and say their value.
// Method: a table of ranges; random ranges of all sizes.

#include "insight/insitu/ticks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace forebay::insitu;

namespace {

std::string shown_ticks(const Ticks& ticks) {
    std::string text;
    for (const auto& mark : ticks.marks) text += (text.empty() ? "" : " ") + mark.label;
    return ticks.factor.empty() ? text : text + " " + ticks.factor;
}

}  // namespace

TEST_CASE("linear marks") {
    CHECK(shown_ticks(linear_ticks(0, 10, 6)) == "0 2 4 6 8 10");
    CHECK(shown_ticks(linear_ticks(-0.5, 255.5, 6)) == "0 50 100 150 200 250");
    CHECK(shown_ticks(linear_ticks(-1, 1, 4)) == "-1.0 -0.5 0 0.5 1.0");
    CHECK(shown_ticks(linear_ticks(0.0012, 0.0031, 5)) == "0.0015 0.0020 0.0025 0.0030");
    CHECK(shown_ticks(linear_ticks(2e6, 7.5e6, 6)) == "2 3 4 5 6 7 ×10⁶");
    CHECK(shown_ticks(linear_ticks(0, 4e-7, 4)) == "0 1 2 3 4 ×10⁻⁷");
    CHECK(shown_ticks(linear_ticks(300.001, 300.003, 3)) == "300.001 300.002 300.003");
    CHECK(shown_ticks(linear_ticks(1.0000000001, 1.0000000003, 4)) == "1 2 3 ×10⁻¹⁰ + 1");
    CHECK(shown_ticks(linear_ticks(-7.25000002, -7.25000001, 5)) == "0 0.5 1.0 ×10⁻⁸ - 7.25000002");
    CHECK(shown_ticks(linear_ticks(1.2345678901e9, 1.2345678905e9, 4)) == "0.2 0.4 + 1234567890");
    CHECK(shown_ticks(linear_ticks(1, 1, 5)).empty());
    CHECK(shown_ticks(linear_ticks(2, 1, 5)).empty());
    CHECK(shown_ticks(linear_ticks(0, std::numeric_limits<double>::infinity(), 5)).empty());
    CHECK(shown_ticks(linear_ticks(std::numeric_limits<double>::quiet_NaN(), 1, 5)).empty());
}

TEST_CASE("logarithmic marks") {
    CHECK(shown_ticks(log_ticks(1, 1000, 5)) == "1 10 100 1000");
    CHECK(shown_ticks(log_ticks(1e-8, 1e4, 4)) == "10⁻⁸ 10⁻⁴ 1 10⁴");
    CHECK(shown_ticks(log_ticks(1, 30, 8)) == "1 2 5 10 20");
    CHECK(shown_ticks(log_ticks(1e6, 3e7, 8)) == "10⁶ 2×10⁶ 5×10⁶ 10⁷ 2×10⁷");
    CHECK(shown_ticks(log_ticks(3, 4, 5)) == "3.0 3.2 3.4 3.6 3.8 4.0");
    CHECK(shown_ticks(log_ticks(0, 4, 5)).empty());
}

TEST_CASE("marks of any range") {
    std::mt19937_64 random(61);
    for (int round = 0; round < 20'000; ++round) {
        const auto part = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
        const double size = std::pow(10, 600 * part() - 300);
        double low = (2 * part() - 1) * size, high = low + size * std::pow(10, -8 * part());
        const int most = 1 + static_cast<int>(random() % 10);
        const bool log = round % 2 == 0 && low > 0;
        CAPTURE(low);
        CAPTURE(high);
        const auto ticks = log ? log_ticks(low, high, most) : linear_ticks(low, high, most);
        CHECK(ticks.marks.size() <= static_cast<std::size_t>(log ? most + 5 : most + 1));
        for (std::size_t i = 0; i < ticks.marks.size(); ++i) {
            CHECK(ticks.marks[i].at >= low);
            CHECK(ticks.marks[i].at <= high);
            CHECK(ticks.marks[i].label.size() < 24);
            CHECK(ticks.factor.size() < 40);
            if (i > 0) CHECK(ticks.marks[i].at > ticks.marks[i - 1].at);
            if (i > 0) CHECK(ticks.marks[i].label != ticks.marks[i - 1].label);
        }
    }
}
