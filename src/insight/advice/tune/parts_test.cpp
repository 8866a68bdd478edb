// Goal: the parts of a search: intervals of ratios, settings by rule, and its texts for people, for other programs and
// in a profile.
// Method: samples with known medians; a few knobs and made trials.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "insight/advice/tune/foreign.hpp"
#include "insight/advice/tune/gain.hpp"
#include "insight/advice/tune/profile.hpp"
#include "insight/advice/tune/race.hpp"
#include "insight/advice/tune/seeds.hpp"

using namespace forebay;
using namespace forebay::advice;

namespace {

const std::vector<Knob> made_knobs{{"stream.file", {"own", "shared"}, 0, false},
                                   {"agent.in_flight", {"1", "4", "16"}, 1},
                                   {"copy_threads", {"auto", "1", "2"}, 0},
                                   {"stripe_count", {"1", "4"}, 0}};

Tuner recorded() {
    Tuner tuner(made_knobs, {}, {.budget = 9});
    const auto time = [](double seconds) {
        return std::vector<format::Measure>{{.name = "durable_seconds", .value = seconds, .samples = 1}};
    };
    tuner.record({{0, 1, 0, 0}, 1}, {.cost = 4, .measures = time(4)});
    tuner.record({{1, 2, 0, 0}, 1}, {.cost = 2, .reference_seconds = 0.1, .measures = time(2)});
    tuner.record({{1, 2, 0, 0}, 1}, {.cost = 2.2, .measures = time(2.2)});
    tuner.record({{1, 2, 2, 1}, 0.25}, {.cost = 9, .not_applied = {"stripe_count"}});
    tuner.record({{1, 2, 2, 0}, 1}, {.error = "no room"});
    return tuner;
}

}  // namespace

TEST_CASE("the interval of a median holds it, and is as wide as the samples are apart") {
    const auto first = bootstrap_median({1.2}, 1);
    CHECK((first.low == 1.2 && first.median == 1.2 && first.high == 1.2));
    const auto second = bootstrap_median({1.0, 1.2}, 1);
    CHECK((second.low == 1.0 && second.median == doctest::Approx(1.1) && second.high == 1.2));
    const auto many = bootstrap_median({1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 9.0}, 7);
    CHECK((many.low == 1.1 && many.median == 1.1 && many.high == doctest::Approx(1.1)));
    CHECK(bootstrap_median({}, 1).high == 0);
    CHECK(bootstrap_median({1, 2, 3, 4, 5}, 3).low == bootstrap_median({1, 2, 3, 4, 5}, 3).low);
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

TEST_CASE("a profile holds every trial, what the best takes, and why others do not count") {
    const auto tuner = recorded();
    const auto profile = profile_of(tuner);
    CHECK(profile.kind == "profile");
    REQUIRE(profile.rows.size() == 5);
    CHECK(profile.rows[1].setting == setting_of(made_knobs, {1, 2, 0, 0}));
    CHECK(format::find(profile.rows[1].measures, "reference_seconds")->value == 0.1);
    CHECK(format::find(profile.rows[3].measures, "share_of_bytes")->value == 0.25);
    CHECK(profile.rows[3].remarks.back() == "stripe_count was not applied");
    CHECK(profile.rows[4].remarks.back() == "no room");
    CHECK(format::find(profile.rows[4].measures, "cost_seconds") == nullptr);
    CHECK(profile.chosen == setting_of(made_knobs, {1, 2, 0, 0}));
    CHECK(format::find(profile.measures, "durable_seconds")->value == doctest::Approx(2.1));
    CHECK(format::find(profile.measures, "durable_seconds")->samples == 2);
    CHECK(format::find(profile.measures, "gain")->value == doctest::Approx(4 / 2.15));
    CHECK(format::find(profile.measures, "runs_used")->value == 4.25);
    CHECK(not_applied(tuner) == std::vector<std::string>{"stripe_count = 4: 1 trial"});
    CHECK(format::decode_advice(format::encode(profile), "p").value().rows.size() == 5);
}

TEST_CASE("a gain has an interval from the scatter of repeated runs, and none without them") {
    const auto few = gain_of(recorded());
    REQUIRE(few);
    CHECK(few->ratio == doctest::Approx(4 / 2.15));
    CHECK_FALSE(few->interval);
    CHECK_FALSE(few->is_certain());
    const auto searched = [](std::initializer_list<double> defaults, std::initializer_list<double> best) {
        Tuner tuner(made_knobs, {}, {.budget = 99});
        for (const auto cost : defaults) tuner.record({{0, 1, 0, 0}, 1}, {.cost = cost});
        for (const auto cost : best) tuner.record({{1, 2, 0, 0}, 1}, {.cost = cost});
        return gain_of(tuner).value();
    };
    // Logarithms 0.1 apart, for two settings with three runs each: sigma is 0.1, and t of 4 degrees of freedom 2.13. So
    // the interval is the ratio times exp(+-2.13 x 0.1 x sqrt(2/3)).
    const auto up = std::exp(0.1), down = std::exp(-0.1);
    const auto clear = searched({3 * down, 3, 3 * up}, {2 * down, 2, 2 * up});
    REQUIRE(clear.interval);
    CHECK(clear.ratio == doctest::Approx(1.5));
    CHECK(clear.scatter == doctest::Approx(std::exp(0.1) - 1));
    CHECK(clear.interval->first == doctest::Approx(1.5 * std::exp(-0.1741)).epsilon(0.005));
    CHECK(clear.interval->second == doctest::Approx(1.5 * std::exp(0.1741)).epsilon(0.005));
    CHECK(clear.is_certain());
    CHECK(gain_lines(clear).size() == 2);
    const auto vague = searched({2 * down, 2.2, 2.2 * up}, {2 * down, 2, 2 * up});
    CHECK_FALSE(vague.is_certain());
    CHECK(gain_lines(vague).size() == 3);
}

TEST_CASE("factors that do not multiply to the gain are explained") {
    const std::vector<KnobWorth> worths{{"agent.in_flight", "4", "8", 1.15, 2}, {"virtual_nodes", "1", "2", 1.2, 2}};
    CHECK(parts_line({.ratio = 1.38}, worths).empty());
    CHECK(parts_line({.ratio = 1.85}, worths).find("1.38 and not to 1.85") != std::string::npos);
    CHECK(parts_line({.ratio = 1.85}, {{"huge_pages", "true", "false", 1, 0}}).empty());
}

TEST_CASE("knobs are explained by what they are worth, and become lines of a configuration") {
    const std::vector<KnobWorth> worths{{"stripe_count", "2", "144", 6.1, 2},
                                        {"agent.in_flight", "4", "8", 1.01, 2},
                                        {"agent.direct", "true", "false", 0.9, 2},
                                        {"huge_pages", "true", "false", 1, 0}};
    CHECK(explanation(worths) ==
          std::vector<std::string>{"stripe_count 2 -> 144: 6.10x",
                                   "no gain above the noise: agent.in_flight -> 8, agent.direct -> false",
                                   "not measured alone, as the budget was used: huge_pages -> false"});
    CHECK(toml_lines(made_knobs, {1, 2, 2, 1}) == std::vector<std::string>{"copy_threads = 2", "[agent]",
                                                                           "in_flight = 16", "[streams.restart]",
                                                                           "file = \"shared\""});
    CHECK(toml_lines(made_knobs, {0, 1, 0, 1}).empty());
}

TEST_CASE("another program is told the knobs and what came of its trials, and says the next one") {
    const auto tuner = recorded();
    CHECK(knobs_line(tuner, 9).find(
              "{\"name\":\"agent.in_flight\",\"values\":[\"1\",\"4\",\"16\"],\"default\":\"4\"") != std::string::npos);
    CHECK(outcome_line(tuner) ==
          "{\"setting\":{\"stream.file\":\"shared\",\"agent.in_flight\":\"16\",\"copy_threads\":"
          "\"2\",\"stripe_count\":\"1\"},\"share\":1.0,\"cost\":null,\"learned\":false,"
          "\"not_applied\":[],\"error\":\"no room\",\"spent\":4.25}\n");
    const auto read = [](std::string_view line) { return read_trial(line, made_knobs); };
    const auto trial = read("{\"setting\": {\"agent.in_flight\": \"16\"}, \"share\": 0.25}").value();
    REQUIRE(trial.has_value());
    CHECK(trial->choice == Choice{0, 2, 0, 0});
    CHECK(trial->share == 0.25);
    CHECK(read("{\"setting\": {}}").value()->share == 1);
    CHECK_FALSE(read("{\"done\": true}").value().has_value());
    for (const auto* wrong : {"", "[]", "{}", "{\"setting\": [1, 2]}", "{\"setting\": {\"agent.inflight\": \"16\"}}",
                              "{\"setting\": {\"agent.in_flight\": \"3\"}}", "{\"setting\": {\"agent.in_flight\": 16}}",
                              "{\"setting\": {}, \"share\": 0}", "{\"setting\": {}, \"share\": 2}",
                              "{\"setting\": {}, \"share\": \"nan\"}"})
        CHECK(read(wrong).error().kind == ErrorKind::refused);
}
