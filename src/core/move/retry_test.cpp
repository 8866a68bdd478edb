// Goal: `retry` and `full` are repeated as often as agreed, with doubling pauses; other errors are returned at once.

#include "core/move/retry.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace forebay;
using namespace forebay::move;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST_CASE("retry and full are repeated until they pass") {
    for (const auto kind : {ErrorKind::retry, ErrorKind::full}) {
        int calls = 0;
        const auto result = with_retries({5, 1ms}, nullptr, [&]() -> Result<int> {
            if (++calls < 4) return Error{kind, "not yet"};
            return calls;
        });
        REQUIRE(result);
        CHECK(*result == 4);
    }
}

TEST_CASE("the last error says how often it was tried") {
    int calls = 0;
    const auto failed = with_retries({2, 1ms}, nullptr, [&]() -> Result<> {
        return Error{ErrorKind::full, "no room " + std::to_string(++calls)};
    });
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::full);
    CHECK(failed.error().what == "no room 3 (attempt 3 of 3)");
    CHECK(with_retries({0, 1ms}, nullptr,
                       []() -> Result<> {
                           return Error{ErrorKind::retry, "x"};
                       })
              .error()
              .what == "x (attempt 1 of 1)");
}

TEST_CASE("other kinds are not repeated, nor is their text touched") {
    for (const auto kind :
         {ErrorKind::missing, ErrorKind::corrupt, ErrorKind::refused, ErrorKind::unsupported, ErrorKind::broken}) {
        int calls = 0;
        const auto failed = with_retries({5, 1ms}, nullptr, [&]() -> Result<> {
            ++calls;
            return Error{kind, "no"};
        });
        CHECK(calls == 1);
        CHECK(failed.error().what == "no");
    }
}

TEST_CASE("pauses double, up to their limit") {
    std::vector<Clock::time_point> times;
    const auto failed = with_retries({4, 20ms, 50ms}, nullptr, [&]() -> Result<> {
        times.push_back(Clock::now());
        return Error{ErrorKind::retry, "x"};
    });
    CHECK_FALSE(failed);
    REQUIRE(times.size() == 5);
    const std::vector<std::chrono::milliseconds> least{20ms, 40ms, 50ms, 50ms};
    for (std::size_t i = 0; i < least.size(); ++i) CHECK(times[i + 1] - times[i] >= least[i]);
    CHECK(times[4] - times[0] < 5s);
}

TEST_CASE("a target that gives room back late is tried later") {
    for (const auto kind : {ErrorKind::retry, ErrorKind::full}) {
        std::vector<Clock::time_point> times;
        const auto failed = with_retries({2, 1ms, 1ms, [] { return 60ms; }}, nullptr, [&]() -> Result<> {
            times.push_back(Clock::now());
            return Error{kind, "x"};
        });
        CHECK_FALSE(failed);
        REQUIRE(times.size() == 3);
        if (kind == ErrorKind::full) CHECK(times[2] - times[0] >= 120ms);
    }
}

TEST_CASE("stop ends the pauses") {
    std::atomic<bool> stop = false;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(50ms);
        stop = true;
    });
    const auto begin = Clock::now();
    const auto failed = with_retries({5, 60s}, &stop, []() -> Result<> { return Error{ErrorKind::retry, "x"}; });
    CHECK(Clock::now() - begin < 10s);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().what == "x (attempt 1 of 6, then stopped on request)");
}
