#include "path/telemetry/standing.hpp"

#include <doctest/doctest.h>

#include "support/status_told.hpp"

using namespace forebay;
using namespace forebay::telemetry;

namespace {

constexpr auto second = test::told_second, now = test::told_now;

RunState state_of(const std::vector<format::StatusLine>& statuses) { return standing_of(statuses, now).state; }

}  // namespace

TEST_CASE("a run stands as its agents tell") {
    CHECK(state_of({}) == RunState::unknown);
    CHECK(state_of({test::status_told("serving"), test::status_told("serving", false)}) == RunState::running);
    CHECK(state_of({test::status_told("serving", false), test::status_told("lingering", false)}) == RunState::draining);
    CHECK(state_of({test::status_told("lingering", false), test::status_told("ended", false)}) == RunState::lingering);
    CHECK(state_of({test::status_told("ended", false, 5000), test::status_told("ended")}) == RunState::ended);
    CHECK(state_of({test::status_told("ended", false), test::status_told("died", false, 5000)}) == RunState::died);
    CHECK(state_of({test::status_told("ended", false), test::status_told("died", false),
                    test::status_told("left", false, 5000)}) == RunState::left);
}

TEST_CASE("agents are silent after three of their periods, and a second for clocks") {
    CHECK(state_of({test::status_told("serving", true, 7)}) == RunState::running);
    CHECK(state_of({test::status_told("serving", true, 8)}) == RunState::silent);
    CHECK(state_of({test::status_told("lingering", false, 8), test::status_told("ended")}) == RunState::silent);
    const auto some = standing_of(
        {test::status_told("serving"), test::status_told("serving", true, 9), test::status_told("serving", true, 8)},
        now);
    CHECK(some.state == RunState::running);
    CHECK(some.agents == 3);
    CHECK(some.at_work == 1);
    CHECK(some.silent == std::vector<std::string>{"nid7", "nid7"});
    CHECK(some.silent_since_unix_ns == now - 9 * second);
}

TEST_CASE("an agent that is known to be gone is silent at once") {
    auto gone = test::status_told("serving");
    gone.is_gone = true;
    CHECK(state_of({gone}) == RunState::silent);
    CHECK(standing_of({gone, test::status_told("serving")}, now).silent.size() == 1);
    auto ended = test::status_told("ended");
    ended.is_gone = true;
    CHECK(state_of({ended}) == RunState::ended);
}

TEST_CASE("of an earlier session nobody waits for a word") {
    auto before = test::status_told("serving", true, 5000);
    before.session = 2;
    const auto standing = standing_of({test::status_told("ended"), before}, now);
    CHECK(standing.state == RunState::ended);
    CHECK(standing.silent.empty());
    CHECK(standing.agents == 1);
}
