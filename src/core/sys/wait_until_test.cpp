// Goal: a wait ends with the first true answer, or else with a look at its deadline; pauses double up to the longest.
// Method: looks that count, and note their times.

#include "core/sys/wait_until.hpp"
#include "core/sys/clock.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace forebay;
using namespace std::chrono_literals;
using sys::Clock;
using sys::wait_until;

TEST_CASE("the first true answer ends the wait, whatever its kind") {
    int looks = 0;
    CHECK(wait_until(Clock::now() + 60s, {1ms}, [&] { return ++looks == 3; }));
    CHECK(looks == 3);
    const auto number = wait_until(Clock::now() + 60s, {1ms, 2ms}, [&]() -> std::optional<int> {
        return ++looks < 6 ? std::nullopt : std::optional(looks);
    });
    CHECK(number == 6);
    // There is one look even after the deadline.
    CHECK(wait_until(Clock::now() - 1s, {1ms}, [&] { return ++looks == 7; }));
}

TEST_CASE("without an answer the last look comes at the deadline, after pauses that doubled") {
    std::vector<Clock::time_point> looks;
    const auto deadline = Clock::now() + 100ms;
    CHECK_FALSE(wait_until(deadline, {10ms, 40ms}, [&] {
        looks.push_back(Clock::now());
        return false;
    }));
    CHECK(looks.back() >= deadline);
    REQUIRE(looks.size() >= 2);
    CHECK(looks.size() <= 5);  // after 0, 10, 30, 70 and 100 ms; fewer on a busy machine
    for (std::size_t i = 1; i + 1 < looks.size(); ++i)
        CHECK(looks[i] - looks[i - 1] >= std::min<Clock::duration>(10ms * (1 << (i - 1)), 40ms));
}
