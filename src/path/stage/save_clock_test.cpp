// Goal: each moment of a save belongs to one part, and the parts add up to the whole. Method: laps with given times.

#include "path/stage/save_clock.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <utility>

using namespace forebay;
using namespace std::chrono_literals;
using format::TimingKind;
using stage::SaveClock;

TEST_CASE("laps become pieces, in order and without a gap, and neighbours of one kind are one") {
    const sys::Clock::time_point begin{1h};
    SaveClock clock;
    clock.restart(begin);
    CHECK(clock.total() == 0us);
    CHECK(clock.pieces().empty());
    clock.lap(TimingKind::agree, begin + 1500ns);
    clock.lap(TimingKind::agree, begin + 3us);
    clock.lap(TimingKind::plan, begin + 3us + 900ns);  // less than a microsecond: no piece
    CHECK(clock.lap(TimingKind::agree, {{TimingKind::wait, 4us}, {TimingKind::plan, 2us}}, begin + 10us) == 6us);
    CHECK(clock.lap(TimingKind::agree, {{TimingKind::wait, 4us}, {TimingKind::plan, 3us}}, begin + 14us) == 4us);
    CHECK(clock.lap(TimingKind::agree, {{TimingKind::wait, -4us}}, begin + 16us) == 0us);
    clock.lap(TimingKind::copy, begin + 15us);  // a clock that goes back removes nothing
    CHECK(clock.lap(TimingKind::agree, {{TimingKind::wait, 4us}}, begin + 15us) == 0us);
    CHECK(clock.total() == 16us);
    const auto pieces = clock.pieces();
    const std::pair<TimingKind, std::chrono::microseconds> wanted[] = {
        {TimingKind::agree, 4us}, {TimingKind::wait, 4us}, {TimingKind::plan, 2us},
        {TimingKind::wait, 1us},  {TimingKind::plan, 3us}, {TimingKind::agree, 2us}};
    REQUIRE(pieces.size() == std::size(wanted));
    auto last = 0us;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        CHECK(pieces[i].kind == wanted[i].first);
        CHECK(pieces[i].length() == wanted[i].second);
        CHECK(pieces[i].start == last);
        CHECK(pieces[i].length() > 0us);
        last = pieces[i].end;
    }
    CHECK(last == 16us);
    clock.restart(begin + 1s);
    CHECK(clock.pieces().empty());
    CHECK(clock.total() == 0us);
}

TEST_CASE("the parts add up to the whole, also of saves with more laps than there are places") {
    std::mt19937_64 random(42);
    for (int turn = 0; turn < 200; ++turn) {
        const sys::Clock::time_point begin{2h};
        SaveClock clock;
        clock.restart(begin);
        auto now = begin;
        const TimingKind kinds[] = {TimingKind::wait, TimingKind::plan, TimingKind::copy, TimingKind::agree};
        for (int i = 0; i < turn; ++i) {
            now += std::chrono::nanoseconds(random() % 5000);
            const auto length = [&] { return std::chrono::nanoseconds(random() % 4000); };
            if (i % 3 == 0)
                clock.lap(kinds[3], {{kinds[random() % 4], length()}, {kinds[random() % 4], length()}}, now);
            else clock.lap(kinds[random() % 4], now);
        }
        auto sum = 0us;
        for (const auto& piece : clock.pieces()) sum += piece.length();
        CHECK(sum == clock.total());
        CHECK(sum == std::chrono::duration_cast<std::chrono::microseconds>(now - begin));
    }
}
