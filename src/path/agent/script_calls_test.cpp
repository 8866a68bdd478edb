// Goal: a script is switched off when it has ended its worker too often in a row, and no other script with it. A call
// that takes too long is found, and its time counts for no other call. Method: calls by hand.

#include "path/agent/script_calls.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace forebay;
using namespace std::chrono_literals;
using agent::ScriptCalls;

namespace {

std::vector<Analysis> analyses() {
    return {{.name = "a", .kind = Analysis::Kind::script, .script = "a.py"},
            {.name = "means", .variables = {"x"}},
            {.name = "b", .kind = Analysis::Kind::script, .script = "b.py", .time_limit = 1ms}};
}

void end_in(ScriptCalls& calls, std::uint32_t stream, std::size_t index) {
    calls.look_at(stream, analyses(), {0, 2});
    REQUIRE(calls.begin(index));
    CHECK(calls.worker_ended() == analyses()[index].name);
}

}  // namespace

TEST_CASE("a script is switched off after so many ends in a row, on its stream") {
    ScriptCalls calls(3);
    for (int i = 0; i < 2; ++i) end_in(calls, 1, 2);
    CHECK(calls.switched_off().empty());
    end_in(calls, 2, 2);
    end_in(calls, 1, 0);
    CHECK(calls.switched_off().empty());
    end_in(calls, 1, 2);
    CHECK(calls.switched_off() == std::vector<std::size_t>{2});
    CHECK(calls.is_switched_off("b"));
    CHECK_FALSE(calls.is_switched_off("a"));
    CHECK(calls.left_out() == "b");
    calls.look_at(1, analyses(), {0});
    CHECK_FALSE(calls.left_out());
    calls.look_at(2, analyses(), {0, 2});
    CHECK(calls.switched_off().empty());
}

TEST_CASE("only the last word on a snapshot is a success: an import before the end is none") {
    ScriptCalls calls(2);
    for (int i = 0; i < 2; ++i) {
        calls.look_at(0, analyses(), {0, 2});
        CHECK(calls.begin(0));
        CHECK(calls.end());
        CHECK(calls.begin(0));
        CHECK(calls.worker_ended() == "a");
    }
    CHECK(calls.switched_off() == std::vector<std::size_t>{0});
    ScriptCalls others(2);
    for (int i = 0; i < 3; ++i) {
        end_in(others, 0, 0);
        others.look_at(0, analyses(), {0, 2});
        CHECK(others.begin(0));
        CHECK(others.end());
        others.survived();
    }
    CHECK(others.switched_off().empty());
}

TEST_CASE("what no worker may say is not taken: no script, another call within one, an end of none") {
    ScriptCalls calls(5);
    calls.look_at(0, analyses(), {0, 2});
    CHECK_FALSE(calls.begin(1));
    CHECK_FALSE(calls.begin(3));
    CHECK_FALSE(calls.end());
    CHECK(calls.begin(0));
    CHECK_FALSE(calls.begin(2));
    calls.forget();
    CHECK_FALSE(calls.worker_ended());
    CHECK_FALSE(calls.end());
}

TEST_CASE("a call may take its time limit, and what calls take is told apart") {
    ScriptCalls calls(5);
    calls.look_at(0, analyses(), {0, 2});
    CHECK(calls.begin(2));
    std::this_thread::sleep_for(5ms);
    CHECK(calls.overdue() == "analysis 'b' did not return within its time_limit of 0.001 s and was killed");
    CHECK(calls.end());
    CHECK_FALSE(calls.overdue());
    const auto spent = calls.spent();
    CHECK(spent >= 5ms);
    std::this_thread::sleep_for(1ms);
    CHECK(calls.spent() == spent);
    CHECK(calls.begin(0));
    CHECK_FALSE(calls.overdue());
    std::this_thread::sleep_for(1ms);
    CHECK(calls.spent() >= spent + 1ms);
    calls.look_at(0, analyses(), {0, 2});
    CHECK(calls.spent() == 0ms);
}
