// Goal: a reader of the ring gets each event once and in order, and never a mixture of two, even while the ring is
// written and wraps around.
// Method: a page in memory; a thread writes events whose numbers all follow from one, and a reader runs beside it.

#include "path/node/event_ring.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>

using namespace forebay::node;

namespace {

PageEvent event_of(std::uint64_t number) {
    return {.unix_ns = static_cast<std::int64_t>(number * 3),
            .what = static_cast<std::uint32_t>(number),
            .stream = static_cast<std::uint32_t>(number % 7),
            .step = -static_cast<std::int64_t>(number),
            .bytes = number * 5,
            .seconds = static_cast<double>(number) / 2};
}

bool is_whole(const PageEvent& event) {
    const auto wanted = event_of(event.number);
    return event.unix_ns == wanted.unix_ns && event.what == wanted.what && event.stream == wanted.stream &&
           event.step == wanted.step && event.bytes == wanted.bytes && event.seconds == wanted.seconds;
}

}  // namespace

TEST_CASE("each event once, in order; a late reader gets the newest") {
    const auto page = std::make_unique<Control>();
    std::uint64_t seen = 0;
    CHECK(events_after(*page, seen).empty());
    for (std::uint64_t i = 1; i <= 3; ++i) put_event(*page, event_of(i));
    const auto first = events_after(*page, seen);
    REQUIRE(first.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(first[i].number == i + 1);
        CHECK(is_whole(first[i]));
    }
    CHECK(seen == 3);
    CHECK(events_after(*page, seen).empty());
    for (std::uint64_t i = 4; i <= 3 + events_max + 10; ++i) put_event(*page, event_of(i));
    const auto newest = events_after(*page, seen);
    REQUIRE(newest.size() == events_max);
    CHECK(newest.front().number == 14);
    CHECK(newest.back().number == 3 + events_max + 10);
}

TEST_CASE("no event is read while it is half written") {
    const auto page = std::make_unique<Control>();
    constexpr std::uint64_t count = 200'000;
    std::thread writer([&] {
        for (std::uint64_t i = 1; i <= count; ++i) put_event(*page, event_of(i));
    });
    std::uint64_t seen = 0, last = 0, read = 0;
    bool whole = true, ordered = true;
    while (seen < count) {
        for (const auto& event : events_after(*page, seen)) {
            whole = whole && is_whole(event);
            ordered = ordered && event.number > last;
            last = event.number;
            ++read;
        }
    }
    writer.join();
    CHECK(whole);
    CHECK(ordered);
    CHECK(last == count);
    CHECK(read > 0);
}
