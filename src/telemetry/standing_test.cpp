#include "telemetry/standing.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using namespace forebay::telemetry;

namespace {

constexpr std::int64_t second = 1'000'000'000, now = 1'795'420'000 * second;

format::StatusLine line(const std::string& state, bool lives = true, std::int64_t age_s = 1) {
    format::StatusLine status{.unix_ns = now - age_s * second, .period_seconds = 2, .host = "nid7"};
    status.state = state;
    status.session = 3;
    status.application_lives = lives;
    return status;
}

RunState state_of(const std::vector<format::StatusLine>& statuses) { return standing_of(statuses, now).state; }

}  // namespace

TEST_CASE("a run stands as its agents tell") {
    CHECK(state_of({}) == RunState::unknown);
    CHECK(state_of({line("serving"), line("serving", false)}) == RunState::running);
    CHECK(state_of({line("serving", false), line("lingering", false)}) == RunState::draining);
    CHECK(state_of({line("lingering", false), line("ended", false)}) == RunState::lingering);
    CHECK(state_of({line("ended", false, 5000), line("ended")}) == RunState::ended);
    CHECK(state_of({line("ended", false), line("died", false, 5000)}) == RunState::died);
    CHECK(state_of({line("ended", false), line("died", false), line("left", false, 5000)}) == RunState::left);
}

TEST_CASE("agents are silent after three of their periods, and a second for clocks") {
    CHECK(state_of({line("serving", true, 7)}) == RunState::running);
    CHECK(state_of({line("serving", true, 8)}) == RunState::silent);
    CHECK(state_of({line("lingering", false, 8), line("ended")}) == RunState::silent);
    const auto some = standing_of({line("serving"), line("serving", true, 9), line("serving", true, 8)}, now);
    CHECK(some.state == RunState::running);
    CHECK(some.agents == 3);
    CHECK(some.at_work == 1);
    CHECK(some.silent == std::vector<std::string>{"nid7", "nid7"});
    CHECK(some.silent_since_unix_ns == now - 9 * second);
}

TEST_CASE("of an earlier session nobody waits for a word") {
    auto before = line("serving", true, 5000);
    before.session = 2;
    const auto standing = standing_of({line("ended"), before}, now);
    CHECK(standing.state == RunState::ended);
    CHECK(standing.silent.empty());
    CHECK(standing.agents == 1);
}
