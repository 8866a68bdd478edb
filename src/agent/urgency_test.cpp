// Goal: the rule of the agent's order is one order, and what may overtake is the part of it that age has no say in.

#include "agent/urgency.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace forebay::agent;

TEST_CASE("priority, then the deadline, then age, then the step") {
    const std::vector<Urgency> expected{
        {2, never_due, 90, 9}, {1, 500, 80, 8},      {1, never_due, 10, 1}, {0, 300, 70, 7},      {0, 400, 20, 2},
        {0, 400, 60, 6},       {0, never_due, 5, 1}, {0, never_due, 5, 2},  {0, never_due, 6, 1}, {-1, 1, 1, 1}};
    auto order = expected;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::ranges::shuffle(order, std::mt19937(seed));
        std::ranges::sort(order, goes_before);
        for (std::size_t i = 0; i < order.size(); ++i) {
            CHECK(order[i].sealed_unix_ns == expected[i].sealed_unix_ns);
            CHECK(order[i].step == expected[i].step);
        }
    }
}

TEST_CASE("only a higher priority or an earlier deadline overtakes, and only one way") {
    CHECK(overtakes({1, never_due, 9, 9}, {0, 5, 1, 1}));
    CHECK_FALSE(overtakes({0, 5, 1, 1}, {1, never_due, 9, 9}));
    CHECK(overtakes({0, 5, 9, 9}, {0, 6, 1, 1}));
    CHECK(overtakes({0, 5, 9, 9}, {0, never_due, 1, 1}));
    CHECK_FALSE(overtakes({0, 5, 1, 1}, {0, 5, 9, 9}));
    CHECK_FALSE(overtakes({0, never_due, 1, 1}, {0, never_due, 9, 9}));
}

TEST_CASE("urgency_of: a deadline counts from the seal; none is never due") {
    const auto page = std::make_unique<forebay::node::Control>();
    page->streams[1].priority = -3;
    page->slots[2].stream = 1;
    page->slots[2].sealed_unix_ns = 1000;
    page->slots[2].step = 7;
    CHECK(urgency_of(*page, 2).due_unix_ns == never_due);
    page->streams[1].deadline_ns = 50;
    const auto urgency = urgency_of(*page, 2);
    CHECK(urgency.priority == -3);
    CHECK(urgency.due_unix_ns == 1050);
    CHECK(urgency.sealed_unix_ns == 1000);
    CHECK(urgency.step == 7);
}
