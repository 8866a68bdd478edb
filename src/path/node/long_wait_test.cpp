// Goal: a long wait reports its reason after 2 s and then every 30 s, a short wait nothing; ranks that wait together
// end together, and rank 0 reports the reasons of the others. Method: the test sets the clock of a wait; ranks are
// threads, and their reason ends after its report.

#include "path/node/long_wait.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/sys/clock.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using node::LongWait, node::Say;

TEST_CASE("what is waited for is said after 2 s, and again every 30 s from then on") {
    std::vector<std::string> lines;
    int asked = 0;
    const Say say = [&](const std::string& line) { lines.push_back(line); };
    const auto what = [&] { return "number " + std::to_string(++asked); };
    const sys::Clock::time_point start{1000s};
    LongWait wait(say, 600s, "in all", start);
    for (const auto now : {0ms, 1999ms}) wait.turn(what, start + now);
    CHECK(asked == 0);
    wait.turn(what, start + 2s);
    CHECK(lines == std::vector<std::string>{"still waiting after 2 s, at most 600 s in all, for number 1"});
    for (const auto now : {2001ms, 31'999ms}) wait.turn(what, start + now);
    CHECK(asked == 1);
    wait.turn(what, start + 33s);
    CHECK(lines.back() == "still waiting after 33 s, at most 600 s in all, for number 2");
    wait.turn(what, start + 62s);
    CHECK(lines.size() == 2);
    wait.turn(what, start + 63s);
    CHECK(lines.size() == 3);
    CHECK_FALSE(wait.is_over(start + 599s));
    CHECK(wait.is_over(start + 600s));
}

TEST_CASE("an interruption is asked for ten times a second, and stays") {
    int asked = 0;
    Say say;
    say.interrupted = [&] { return ++asked == 3; };
    const sys::Clock::time_point start{1000s};
    LongWait wait(say, 600s, "in all", start);
    for (const auto now : {0ms, 99ms, 100ms, 150ms, 199ms}) CHECK_FALSE(wait.is_interrupted(start + now));
    CHECK(asked == 1);
    CHECK_FALSE(wait.is_interrupted(start + 200ms));
    CHECK(wait.is_interrupted(start + 300ms));
    CHECK(wait.is_interrupted(start + 301ms));
    CHECK(asked == 3);
}

TEST_CASE("an interruption of one rank ends the wait of all, with its number") {
    for (const int ranks : {1, 2, 5}) {
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Say say;
            if (world->rank() == ranks - 1) say.interrupted = [] { return true; };
            const auto waited = node::wait_together(
                *world,
                [&](auto nap) -> std::optional<std::string> {
                    std::this_thread::sleep_for(std::min(nap, 20ms));
                    return world->rank() == 0 ? std::optional("ever") : std::nullopt;
                },
                600s, say);
            REQUIRE_FALSE(waited);
            CHECK(waited.error().kind == ErrorKind::retry);
            CHECK(waited.error().what.find("on rank " + std::to_string(ranks - 1)) != std::string::npos);
        });
    }
}

TEST_CASE("where nobody listens nothing is asked") {
    const Say nobody;
    LongWait wait(nobody, 600s, "in all", sys::Clock::now() - 60s);
    wait.turn([]() -> std::string { throw std::runtime_error("asked"); });
}

TEST_CASE("ranks that wait together end when none waits any more") {
    for (const int ranks : {1, 2, 3, 5, 17}) {
        std::atomic<int> turns{0};
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            int left = world->rank() == ranks - 1 ? 5 : 0;
            auto all = node::wait_together(*world,
                                           [&](auto) -> std::optional<std::string> {
                                               if (left == 0) return {};
                                               ++turns;
                                               return "turn " + std::to_string(left--);
                                           },
                                           600s, {});
            CHECK(all.value());
            CHECK(left == 0);
        });
        CHECK(turns == 5);
    }
}

TEST_CASE("ranks that wait together end when the time is over, all alike") {
    test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
        const auto look = [&](auto nap) -> std::optional<std::string> {
            if (world->rank() != 1) return {};
            std::this_thread::sleep_for(nap);
            return "ever";
        };
        CHECK_FALSE(node::wait_together(*world, look, 30ms, {}).value());
        CHECK_FALSE(node::wait_together(*world, look, 0ms, {}).value());
    });
}

TEST_CASE("rank 0 says what the lowest rank that waits does") {
    std::atomic<bool> is_said{false};
    std::string line;
    test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
        const Say say = [&](const std::string& text) {
            line = text;
            is_said = true;
        };
        const int rank = world->rank();
        const auto look = [&](auto) -> std::optional<std::string> {
            std::this_thread::sleep_for(1ms);
            if (rank < 2 || is_said.load()) return {};
            return "what rank " + std::to_string(rank) + " wants";
        };
        CHECK(node::wait_together(*world, look, 600s, rank == 0 ? say : Say()).value());
    });
    CHECK(line.starts_with("still waiting after "));
    CHECK(line.ends_with(" s, at most 600 s in all, for what rank 2 wants"));
}
