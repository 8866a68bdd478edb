// Goal: a shared limit holds for all together, and a turn from an earlier boot of the machine stops nobody.
// Method: two paces of one turn; the turn after each piece. No time is measured.

#include <doctest/doctest.h>

#include "core/move/pace.hpp"
#include "core/sys/clock.hpp"

using namespace forebay;

TEST_CASE("two that share a turn take it one after the other") {
    move::Turn turn{0};
    move::Pace pace(1'000'000, &turn), other(1'000'000, &turn);
    REQUIRE(pace.wait_turn(10'000, nullptr));
    const auto first = turn.load();
    REQUIRE(other.wait_turn(20'000, nullptr));
    const auto second = turn.load();
    REQUIRE(pace.wait_turn(10'000, nullptr));
    // 10,000 and 20,000 bytes take 10 ms and 20 ms; a late thread catches up at most 50 ms.
    CHECK(second - first >= 20'000'000);
    CHECK(turn.load() - second >= 10'000'000);
}

TEST_CASE("a turn of another start of the machine is forgotten") {
    move::Turn turn{(sys::Clock::now() + std::chrono::hours(24 * 365)).time_since_epoch().count()};
    move::Pace pace(1'000'000, &turn);
    CHECK(pace.wait_turn(1000, nullptr));
    CHECK(turn.load() < (sys::Clock::now() + std::chrono::minutes(1)).time_since_epoch().count());
}
