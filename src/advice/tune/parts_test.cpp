// Goal: the parts of a search: intervals of ratios, proposals, settings by rule.
// Method: samples whose medians are known; a few knobs, of which the good values are given.

#include <doctest/doctest.h>

#include <algorithm>

#include "advice/tune/proposal.hpp"
#include "advice/tune/race.hpp"
#include "advice/tune/seeds.hpp"

using namespace forebay::advice;

TEST_CASE("the interval of a median holds it, and is as wide as the samples are apart") {
    const auto one = bootstrap_median({1.2}, 1);
    CHECK((one.low == 1.2 && one.median == 1.2 && one.high == 1.2));
    const auto two = bootstrap_median({1.0, 1.2}, 1);
    CHECK((two.low == 1.0 && two.median == doctest::Approx(1.1) && two.high == 1.2));
    const auto many = bootstrap_median({1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 9.0}, 7);
    CHECK((many.low == 1.1 && many.median == 1.1 && many.high == doctest::Approx(1.1)));
    CHECK(bootstrap_median({}, 1).high == 0);
    CHECK(bootstrap_median({1, 2, 3, 4, 5}, 3).low == bootstrap_median({1, 2, 3, 4, 5}, 3).low);
}

TEST_CASE("proposals take the values of the good, and none that may not be tried") {
    const std::vector<Knob> knobs{{"a", {"0", "1", "2", "3", "4", "5"}}, {"b", {"x", "y", "z"}, 0, false}};
    // Good are those with a = 4; b says nothing.
    const std::vector<Choice> ranked{{4, 0}, {4, 1}, {4, 2}, {0, 0}, {0, 1}, {1, 2},
                                     {2, 0}, {1, 1}, {0, 2}, {2, 2}, {1, 0}, {2, 1}};
    const auto is_new = [&](const Choice& choice) { return std::ranges::find(ranked, choice) == ranked.end(); };
    int high = 0;
    for (std::uint64_t turn = 0; turn < 100; ++turn) {
        const auto found = propose(knobs, ranked, is_new, 1, turn);
        REQUIRE(found.has_value());
        CHECK(is_new(*found));
        high += found->front() >= 3;
        CHECK(found == propose(knobs, ranked, is_new, 1, turn));
    }
    CHECK(high == 100);
    CHECK_FALSE(propose(
                    knobs, ranked, [](const Choice&) { return false; }, 1, 0)
                    .has_value());
    CHECK_FALSE(propose(knobs, {}, is_new, 1, 0).has_value());
}

TEST_CASE("rules become the nearest values that there are") {
    const std::vector<Knob> knobs{{"stream.file", {"own", "combined:2", "combined:16", "shared"}, 0, false},
                                  {"agent.block_bytes", {"1048576", "16777216", "33554432"}, 1},
                                  {"agent.direct", {"true", "false"}, 0, false},
                                  {"other", {"p", "q"}, 1, false}};
    CHECK(choice_of(knobs, {}) == Choice{0, 1, 0, 1});
    CHECK(choice_of(knobs, {{"agent.block_bytes", "67108864"}, {"stream.file", "combined:20"}}) == Choice{2, 2, 0, 1});
    CHECK(choice_of(knobs, {{"agent.direct", "auto"}, {"stream.file", "shared"}}) == Choice{3, 1, 0, 1});
    CHECK(choice_of(knobs, {{"agent.block_bytes", "0"}, {"unknown", "1"}}) == Choice{0, 1, 0, 1});
    const auto seeds = seeds_of(knobs, {.nodes = 8100, .targets = 156, .node_bytes = 1});
    CHECK(seeds.size() >= 3);
    CHECK(seeds.size() <= 12);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        CHECK(seeds[i] != Choice{0, 1, 0, 1});
        CHECK(std::count(seeds.begin(), seeds.end(), seeds[i]) == 1);
    }
    // VPIC's 144 of 156.
    const auto rules = rules_of({.nodes = 8100, .targets = 156, .node_bytes = 1});
    CHECK(std::ranges::any_of(rules, [](const Rule& rule) {
        return std::ranges::find(rule, Rule::value_type{"stripe_count", "144"}) != rule.end();
    }));
}
