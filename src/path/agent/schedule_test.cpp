// Goal: the agent has one order of slots. A slot may overtake by the same order without age. A failed slot waits for
// the bell and never stops a drain. Method: a control page filled by hand; no agent, no clock.

#include "path/agent/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace forebay::agent;
using forebay::node::Control;
using forebay::node::SlotState;

namespace {

// Slot i belongs to stream i, and was sealed i nanoseconds after the first slot.
std::unique_ptr<Control> page_with(const std::vector<SlotState>& states) {
    auto page = std::make_unique<Control>();
    for (std::uint32_t i = 0; i < states.size(); ++i) {
        page->slots[i].stream = i;
        page->slots[i].state = states[i];
        page->slots[i].sealed_unix_ns = 1000 + i;
    }
    page->slot_count = static_cast<std::uint32_t>(states.size());
    return page;
}

}  // namespace

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
    const auto page = std::make_unique<Control>();
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

TEST_CASE("of slots in every state the most urgent sealed one is next") {
    const auto page = page_with({SlotState::empty, SlotState::filling, SlotState::committed, SlotState::draining,
                                 SlotState::drained, SlotState::sealed, SlotState::sealed});
    Schedule schedule(*page);
    schedule.wait_for_work();
    CHECK(schedule.next() == 5u);
    page->streams[6].priority = 1;
    CHECK(schedule.next() == 6u);
    CHECK(schedule.waiting_for_peers() == std::vector<std::uint32_t>{4});
    page->slots[5].state = page->slots[6].state = SlotState::empty;
    CHECK_FALSE(schedule.next());
}

TEST_CASE("a failed slot is next after the bell alone, and never overtakes") {
    const auto page = page_with({SlotState::failed, SlotState::draining});
    page->streams[0].priority = 9;
    Schedule schedule(*page);
    page->bell = 1;
    schedule.wait_for_work();
    CHECK(schedule.next() == 0u);  // it failed under an earlier agent
    schedule.failed(0);
    CHECK_FALSE(schedule.next());
    page->bell = 2;
    CHECK_FALSE(schedule.next());  // the bell was not read yet
    schedule.wait_for_work();
    CHECK(schedule.next() == 0u);
    CHECK_FALSE(schedule.next_to_overtake(urgency_of(*page, 1)));
    page->slots[0].state = SlotState::sealed;
    CHECK(schedule.next_to_overtake(urgency_of(*page, 1)) == 0u);
}

TEST_CASE("a deadline is missed once, and never by what an earlier session has left") {
    const auto page = page_with({SlotState::sealed, SlotState::committed});
    page->streams[0].deadline_ns = page->streams[1].deadline_ns = 50;
    const Schedule schedule(*page);
    CHECK_FALSE(schedule.any_misses_deadline(1050));
    CHECK(schedule.misses_deadline(0, 1051));
    CHECK_FALSE(schedule.misses_deadline(1, 2000));
    page->slots[0].inherited = 1;
    CHECK_FALSE(schedule.any_misses_deadline(2000));
    page->slots[0].inherited = 0;
    page->slots[0].late = 1;
    CHECK_FALSE(schedule.any_misses_deadline(2000));
    CHECK(schedule.ends_unix_ns(0) == 1050);
    page->slots[0].needed_unix_ns = 1020;
    CHECK(schedule.ends_unix_ns(0) == 1020);
}
