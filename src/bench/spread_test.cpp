// Goal: medians and quartiles equal the textbook's, for odd, even, few and no samples, in any order.

#include "bench/spread.hpp"

#include <doctest/doctest.h>

using namespace forebay::bench;

TEST_CASE("spread: an odd number of samples, unsorted") {
    const auto spread = spread_of({5, 1, 4, 2, 3});
    CHECK(spread.median == 3);
    CHECK(spread.min == 1);
    CHECK(spread.max == 5);
    CHECK(spread.lower_quartile == 2);
    CHECK(spread.upper_quartile == 4);
    CHECK(spread.count == 5);
}

TEST_CASE("spread: an even number lies between its middle two") {
    const auto spread = spread_of({4, 1, 3, 2});
    CHECK(spread.median == doctest::Approx(2.5));
    CHECK(spread.lower_quartile == doctest::Approx(1.75));
    CHECK(spread.upper_quartile == doctest::Approx(3.25));
}

TEST_CASE("spread: one sample is everything, none are zeros") {
    const auto single = spread_of({7});
    CHECK(single.median == 7);
    CHECK(single.lower_quartile == 7);
    CHECK(single.max == 7);
    CHECK(spread_of({}).count == 0);
    CHECK(spread_of({}).median == 0);
}

TEST_CASE("spread: one slow run moves the maximum, not the median") {
    CHECK(spread_of({1, 1, 1, 1, 1, 1, 1000}).median == 1);
    CHECK(spread_of({1, 1, 1, 1, 1, 1, 1000}).max == 1000);
}

TEST_CASE("ratios: each run with its neighbour") {
    const auto ratios = ratios_of({1, 4, 9}, {2, 2, 3});
    CHECK(ratios == std::vector<double>{0.5, 2, 3});
}

TEST_CASE("spread: fractions of samples in any order") {
    CHECK(at_fraction({}, 0.5) == 0);
    CHECK(at_fraction({5, 1, 4, 2, 3}, 0) == 1);
    CHECK(at_fraction({5, 1, 4, 2, 3}, 0.95) == doctest::Approx(4.8));
}

TEST_CASE("spread: the interval of the median holds it, is narrower for more samples, and the same each time") {
    std::vector<double> few, many;
    for (int i = 0; i < 9; ++i) few.push_back(100 + i * 7 % 9);
    for (int i = 0; i < 99; ++i) many.push_back(100 + i * 7 % 9);
    const auto wide = median_interval(few), narrow = median_interval(many);
    CHECK(wide.low < 104);
    CHECK(wide.high > 104);
    CHECK(narrow.high - narrow.low < wide.high - wide.low);
    CHECK(median_interval(few).low == wide.low);
    CHECK(median_interval({3}).low == 3);
    CHECK(median_interval({3}).high == 3);
    CHECK(median_interval({}).high == 0);
}
