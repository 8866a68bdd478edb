// Goal: slices of a track are nested or do not overlap, for any clocks. Slices are lost only if too many overlap.
// Method: spans by hand, then random spans of every kind; the lanes are checked against the rule.

#include "insight/report/trace_lanes.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace forebay::report;

namespace {

TraceSpan span(std::uint64_t start, std::uint64_t end, bool may_hold = false, bool may_lie_within = false) {
    return {.start_unix_ns = start, .end_unix_ns = end, .may_hold = may_hold, .may_lie_within = may_lie_within};
}

// Checks as a viewer does: due ends come before the next beginning.
void check_nested(const std::vector<TraceSpan>& lane) {
    std::vector<TraceSpan> open;
    std::uint64_t last = 0;
    for (const auto& span : lane) {
        CHECK(span.start_unix_ns >= last);
        CHECK(span.end_unix_ns >= span.start_unix_ns);
        last = span.start_unix_ns;
        REQUIRE(span.depth <= open.size());
        while (open.size() > span.depth) {
            CHECK(open.back().end_unix_ns <= span.start_unix_ns);
            open.pop_back();
        }
        if (!open.empty()) {
            CHECK(open.back().end_unix_ns >= span.end_unix_ns);
            CHECK(open.back().may_hold);
            CHECK(span.may_lie_within);
        }
        open.push_back(span);
    }
}

}  // namespace

TEST_CASE("phases lie within their save, writes at once on tracks of their own") {
    const auto saves = lanes_of({span(100, 200, true), span(100, 110, false, true), span(110, 200, false, true),
                                 span(200, 200, false, true), span(300, 400, true), span(350, 350, false, true)});
    REQUIRE(saves.lanes.size() == 1);
    check_nested(saves.lanes[0]);
    CHECK(saves.lanes[0][3].depth == 1);  // no length, at the end of its save
    CHECK(saves.lanes[0][4].depth == 0);
    const auto writes = lanes_of({span(100, 200), span(100, 200), span(200, 300), span(150, 250)});
    CHECK(writes.lanes.size() == 3);
    CHECK(writes.lanes[0].size() == 2);
}

TEST_CASE("a phase that ends by rounding after its save is cut, a longer one has a track of its own") {
    const auto cut = lanes_of({span(0, 10000, true), span(5000, 12000, false, true)});
    REQUIRE(cut.lanes.size() == 1);
    CHECK(cut.lanes[0][1].end_unix_ns == 10000);
    CHECK(lanes_of({span(0, 10000, true), span(5000, 12001, false, true)}).lanes.size() == 2);
}

TEST_CASE("no more tracks than a viewer shows") {
    std::vector<TraceSpan> spans(lanes_max + 9, span(5, 6));
    const auto lanes = lanes_of(spans);
    CHECK(lanes.lanes.size() == lanes_max);
    CHECK(lanes.left_out == 9);
}

TEST_CASE("random spans nest on every track, and none is lost") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::uniform_int_distribution<std::uint64_t> start(1, 20000), length(0, 6000), kind(0, 3);
        std::vector<TraceSpan> spans;
        for (int i = 0; i < 60; ++i) {
            const auto begin = start(random);
            const auto chosen = kind(random);
            spans.push_back(
                span(begin, begin + (length(random) % 4 == 0 ? 0 : length(random)), chosen == 0, chosen > 1));
        }
        const auto lanes = lanes_of(spans);
        std::size_t sum = lanes.left_out;
        for (const auto& lane : lanes.lanes) {
            check_nested(lane);
            sum += lane.size();
        }
        CHECK(sum == spans.size());
    }
}
