// Goal: inputs keep their origin, replace each other in the right order, and are refused if wrong. A plan reports
// problems, and does not predict beyond measured sizes. A run's measures become inputs and are compared.
// Method: inputs by hand, made runs of known rates.

#include "insight/advice/plan/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/sys/clock.hpp"
#include "insight/advice/plan/case.hpp"
#include "insight/advice/plan/run_measures.hpp"
#include "support/made_chronicle.hpp"

namespace {

using namespace forebay;
using advice::PlanInputs;
using doctest::Approx;
using format::MeasureOrigin;

void give(PlanInputs& inputs, const std::string& name, double value, double cv = 0) {
    inputs.take({.name = name, .value = value, .cv = cv, .samples = 1, .origin = MeasureOrigin::given, .from = "test"});
}

// 100 nodes of 50 GB: 2 s to copy, 100 s to drain, 300 s a step.
PlanInputs small() {
    PlanInputs inputs;
    give(inputs, "nodes", 100);
    give(inputs, "node_bytes", 50e9);
    give(inputs, "save_rate_bytes_per_second", 25e9);
    give(inputs, "drain_rate_bytes_per_second", 500e6);
    give(inputs, "step_seconds", 300);
    give(inputs, "mtbf_seconds", 12 * 3600);
    return inputs;
}

double value(const format::Advice& plan, const char* name) {
    const auto* measure = format::find(plan.measures, name);
    REQUIRE_MESSAGE(measure != nullptr, name);
    return measure->value;
}

const format::Finding* finding(const format::Advice& plan, std::string_view check) {
    const auto finding = std::ranges::find(plan.findings, check, &format::Finding::check);
    return finding == plan.findings.end() ? nullptr : &*finding;
}

format::Advice plan_of(const PlanInputs& inputs, const advice::PlanWishes& wishes = {}) {
    return advice::make_plan(inputs, wishes).value();
}

}  // namespace

TEST_CASE("inputs: what is missing is refused, the rest is assumed and says so") {
    PlanInputs inputs;
    CHECK(inputs.settled().error().kind == ErrorKind::refused);
    give(inputs, "node_bytes", 1e9);
    CHECK(inputs.settled().error().what == "there is no value for the time of a step");
    give(inputs, "step_seconds", 60);
    CHECK(inputs.settled().error().what == "there is no value for the drain rate of a node");
    give(inputs, "target_rate_bytes_per_second", 4e9);
    give(inputs, "nodes", 4);
    const auto settled = inputs.settled().value();
    CHECK(settled.find("mtbf_seconds")->origin == MeasureOrigin::assumed);
    CHECK(settled.value("mtbf_seconds") == Approx(10 * 365.25 * 86400 / 4));
    CHECK(settled.value("read_rate_bytes_per_second") == Approx(2e9));  // twice the rate of a node
    CHECK(settled.model().target_rate == 4e9);
    for (const auto& wrong : {std::pair{"slow_node_share", 1.5}, {"nodes", 1e7}, {"steps", 1e6}}) {
        auto refused = inputs;
        give(refused, wrong.first, wrong.second);
        CHECK_MESSAGE(refused.settled().error().kind == ErrorKind::refused, wrong.first);
    }
    give(inputs, "rendezvous", 2);
    CHECK(inputs.settled().error().what == "there are more rendezvous than variables");
}

TEST_CASE("inputs: advice of others") {
    PlanInputs inputs;
    format::Advice bench{.kind = "bench"};
    bench.measures = {
        {.name = "nodes", .value = 2, .origin = MeasureOrigin::measured},
        {.name = "node_bytes", .value = 1e9, .origin = MeasureOrigin::measured},
        {.name = "drain_rate_bytes_per_second", .value = 7e8, .cv = 0.1, .origin = MeasureOrigin::measured},
        {.name = "slow_node_ratio", .value = 0, .origin = MeasureOrigin::measured},
        {.name = "mtbf_seconds", .value = 5, .origin = MeasureOrigin::assumed},
        {.name = "visible_seconds", .value = 3, .origin = MeasureOrigin::measured}};
    inputs.take(bench, "bench.json");
    CHECK(inputs.value("measured_nodes") == 2);
    CHECK(inputs.value("measured_node_bytes") == 1e9);
    CHECK(inputs.find("drain_rate_bytes_per_second")->from == "bench.json");
    CHECK(inputs.find("drain_rate_bytes_per_second")->cv == 0.1);
    for (const auto* name : {"mtbf_seconds", "visible_seconds", "slow_node_ratio"}) CHECK(inputs.find(name) == nullptr);
    inputs.take({.kind = "preflight", .measures = {{.name = "nodes", .value = 64}, {.name = "nodes", .value = 3}}},
                "p");
    CHECK(inputs.value("nodes") == 2);  // only assumed
    bench.measures[0].value = 64;
    inputs.take(bench, "other.json");
    CHECK(inputs.value("nodes") == 64);
    bench.measures[0].value = 1;
    inputs.take(bench, "one.json");
    CHECK(inputs.value("nodes") == 64);
    CHECK(inputs.value("measured_nodes") == 1);
}

TEST_CASE("inputs: a profile's key tells at how many nodes and bytes it was measured") {
    const format::Advice profile{
        .kind = "profile",
        .key = {{"nodes", "1"}, {"ranks_per_node", "4"}, {"bytes_per_rank", "8388608"}},
        .measures = {{.name = "drain_rate_bytes_per_second", .value = 7e8, .origin = MeasureOrigin::measured}}};
    PlanInputs inputs;
    inputs.take(profile, "profile.json");
    for (const auto* name : {"nodes", "measured_nodes"}) CHECK_MESSAGE(inputs.value(name) == 1, name);
    for (const auto* name : {"node_bytes", "measured_node_bytes"}) CHECK_MESSAGE(inputs.value(name) == 33554432, name);
    give(inputs, "nodes", 8100);
    give(inputs, "node_bytes", 50e9);
    give(inputs, "step_seconds", 60);
    CHECK(finding(plan_of(inputs), "extrapolation")->severity == format::Severity::fail);
    inputs.take(profile, "profile.json");
    CHECK(inputs.value("nodes") == 8100);
    CHECK(inputs.value("node_bytes") == 50e9);
}

TEST_CASE("a plan: predictions, what if, what is advised") {
    advice::PlanWishes wishes;
    wishes.what_ifs = {{"nodes", {{"200", {{.name = "nodes", .value = 200, .origin = MeasureOrigin::given}}}}}};
    const auto plan = plan_of(small(), wishes);
    CHECK(plan.kind == "plan");
    CHECK(value(plan, "save_seconds") == Approx(2));
    CHECK(value(plan, "drain_seconds") == Approx(100));
    CHECK(value(plan, "kept_bytes") == Approx(15e12));
    CHECK(value(plan, "written_bytes") == Approx(2.5e15));
    const auto* progress = format::find(plan.measures, "forward_progress");
    CHECK(progress->low < progress->value);
    CHECK(progress->value < progress->high);
    CHECK(progress->origin == MeasureOrigin::predicted);
    CHECK(value(plan, "forward_progress_closed") == Approx(progress->value).epsilon(0.01));
    REQUIRE(plan.rows.size() == 2);
    CHECK(plan.rows[1].setting == format::AdviceSetting{{"nodes", "200"}});
    CHECK(plan.findings.empty());
    const format::AdviceSetting advised{{"every", "1"}, {"slots", "1"}};
    CHECK(plan.chosen == advised);
}

TEST_CASE("a plan: twice the nodes fail twice as often where that is assumed") {
    auto inputs = small();
    PlanInputs assumed;
    for (const auto& measure : inputs.measures())
        if (measure.name != "mtbf_seconds") assumed.take(measure);
    give(assumed, "nodes", 10000);
    advice::PlanWishes wishes;
    wishes.what_ifs = {{"nodes", {{"40000", {{.name = "nodes", .value = 40000, .origin = MeasureOrigin::given}}}}},
                       {"every", {{"2", {{.name = "save_every_steps", .value = 2, .origin = MeasureOrigin::given}}}}}};
    const auto plan = plan_of(assumed, wishes);
    const auto* failures = format::find(plan.rows.at(1).measures, "failures");
    CHECK(failures->value > 2.5 * value(plan, "failures"));
    const auto* longer = format::find(plan.rows.at(2).measures, "wall_seconds");
    CHECK(longer->value < 1.2 * value(plan, "wall_seconds"));  // the same steps, half as many saves
}

TEST_CASE("a plan: what is bad is found") {
    auto inputs = small();
    give(inputs, "slow_node_share", 0.02);
    give(inputs, "slow_node_ratio", 0.25);
    auto plan = plan_of(inputs);
    REQUIRE(finding(plan, "slow_nodes") != nullptr);
    CHECK(finding(plan, "slow_nodes")->severity == format::Severity::warn);
    CHECK(finding(plan, "slack") != nullptr);
    CHECK(plan.chosen[0].second != "1");  // such drains make each step too often

    inputs = small();
    give(inputs, "slots", 0);
    plan = plan_of(inputs);
    REQUIRE(finding(plan, "slots") != nullptr);
    CHECK(plan.chosen[1].second == "1");

    inputs = small();
    give(inputs, "slots", 0);
    give(inputs, "mtbf_seconds", 0);
    give(inputs, "targets", 144);
    give(inputs, "variables", 8);
    give(inputs, "rendezvous", 8);
    give(inputs, "target_rate_bytes_per_second", 25e9, 0.1);
    give(inputs, "slow_target_share", 12.0 / 144);
    give(inputs, "slow_target_ratio", 0.5);
    plan = plan_of(inputs);
    CHECK(finding(plan, "slow_targets")->severity == format::Severity::warn);
    CHECK(value(plan, "one_rendezvous_gain_ratio") > 1.1);
    CHECK(plan.chosen.size() == 1);  // no failures: no interval is best
}

TEST_CASE("nothing is predicted silently beyond 64 times what was measured") {
    auto inputs = small();
    give(inputs, "measured_nodes", 1);
    auto plan = plan_of(inputs);
    REQUIRE(finding(plan, "extrapolation") != nullptr);
    CHECK(finding(plan, "extrapolation")->severity == format::Severity::fail);
    CHECK(format::find(plan.measures, "forward_progress") == nullptr);
    plan = plan_of(inputs, {.extrapolate = true});
    CHECK(finding(plan, "extrapolation")->severity == format::Severity::warn);
    CHECK(value(plan, "drain_seconds") == Approx(100));
    CHECK(finding(plan, "target_rate") != nullptr);  // 100 nodes, each as fast as the one measured
    give(inputs, "nodes", 64);
    CHECK(finding(plan_of(inputs), "extrapolation") == nullptr);
    give(inputs, "measured_node_bytes", 50e9 / 65);
    CHECK(finding(plan_of(inputs), "extrapolation") != nullptr);
}

TEST_CASE("before a job ends: what can still become durable") {
    auto inputs = small();  // 102 s, and 2.25 times that because nothing was measured
    give(inputs, "ends_in_seconds", 600);
    auto plan = plan_of(inputs);
    CHECK(value(plan, "needed_seconds") == Approx(2.25 * 102));
    CHECK(value(plan, "last_save_seconds") == Approx(600 - 2.25 * 102));
    CHECK(value(plan, "saves_that_fit") == 2);  // now, and in 302 s
    CHECK(finding(plan, "end_of_job")->severity == format::Severity::note);
    inputs.take({.name = "drain_rate_bytes_per_second", .value = 500e6, .samples = 20, .origin = MeasureOrigin::kept});
    CHECK(value(plan_of(inputs), "needed_seconds") == Approx(1.3 * 102));
    give(inputs, "ahead_seconds", 60);
    CHECK(value(plan_of(inputs), "needed_seconds") == Approx(1.3 * 102 + 60));
    give(inputs, "ends_in_seconds", 100);
    plan = plan_of(inputs);
    CHECK(value(plan, "saves_that_fit") == 0);
    CHECK(finding(plan, "end_of_job")->severity == format::Severity::fail);
}

TEST_CASE("a job that computes just now tells its end, and what it has still to drain") {
    auto chronicle = test::made_chronicle({.nodes = 2, .noise = 0});
    const auto now = sys::unix_ns();
    for (std::uint64_t node = 0; node < 2; ++node) {
        chronicle.statuses.push_back({.unix_ns = now,
                                      .period_seconds = 1,
                                      .host = "nid" + std::to_string(10000 + node),
                                      .application_lives = true,
                                      .job_ends_unix_ns = now + 600'000'000'000});
        chronicle.statuses.back().counts.backlog_bytes = node * 380'000'000;
    }
    auto measures = advice::measures_of_run(chronicle).value();
    CHECK(format::find(measures, "ends_in_seconds")->value == Approx(600).epsilon(0.01));
    CHECK(format::find(measures, "ahead_seconds")->value == Approx(1).epsilon(0.05));
    for (auto& status : chronicle.statuses) status.unix_ns -= 10'000'000'000;  // silent for 10 s
    measures = advice::measures_of_run(chronicle).value();
    CHECK(format::find(measures, "ends_in_seconds") == nullptr);
    CHECK(format::find(measures, "ahead_seconds") == nullptr);
}

TEST_CASE("what a run has shown is what another one of the kind does") {
    const auto shown = [](test::MadeRun run) { return advice::measures_of_run(test::made_chronicle(run)).value(); };
    const auto advice = shown({.nodes = 1, .noise = 0.02});
    CHECK(format::find(advice, "step_seconds")->value == Approx(0.5959));  // waiting ranks compute no less
    CHECK(format::find(advice, "save_every_steps")->value == 100);
    const auto many = shown({.nodes = 8, .noise = 0.02, .seed = 2});
    PlanInputs inputs;
    for (const auto& measure : advice) inputs.take(measure);
    give(inputs, "nodes", 8);
    give(inputs, "mtbf_seconds", 0);
    auto compared = advice::compare(plan_of(inputs).measures, many);
    for (const auto* name : {"save_seconds", "drain_seconds", "visible_seconds", "slack"}) {
        const auto row = std::ranges::find(compared, name, &advice::Compared::name);
        REQUIRE_MESSAGE(row != compared.end(), name);
        CHECK_MESSAGE(std::abs(row->off) < 0.05, name);
        CHECK(row->good());
    }
    const auto slow = shown({.nodes = 8, .slow_node = 3, .slow_node_ratio = 0.3, .noise = 0.02});
    CHECK(format::find(slow, "slow_node_share")->value == Approx(1.0 / 8));
    CHECK(format::find(slow, "slow_node_ratio")->value == Approx(0.3).epsilon(0.05));
    CHECK(format::find(slow, "drain_rate_bytes_per_second")->value ==
          Approx(format::find(many, "drain_rate_bytes_per_second")->value).epsilon(0.02));
    compared = advice::compare(plan_of(inputs).measures, slow);
    CHECK_FALSE(std::ranges::find(compared, "drain_seconds", &advice::Compared::name)->good());
    CHECK(std::ranges::find(compared, "nodes", &advice::Compared::name)->good());  // inputs are shown, not judged
    CHECK(advice::measures_of_run(telemetry::Chronicle{.run = "/none"}).error().kind == ErrorKind::missing);
}

TEST_CASE("cases: every number has a source") {
    const auto read = [](const std::string& text) { return advice::read_case(text, "case.toml"); };
    const auto good = read(
        "title = 'x'\nwhat_if = ['mtbf=3h']\n[inputs]\nnodes = { value = 3, cv = 0.5, from = 'p. 7' }\n"
        "[published]\nslack = { value = 2, from = 'p. 8' }\n");
    REQUIRE(good);
    CHECK(good->inputs[0].value == 3);
    CHECK(good->inputs[0].cv == 0.5);
    CHECK(good->published[0].name == "slack");
    CHECK(good->what_ifs == std::vector<std::string>{"mtbf=3h"});
    for (const auto* wrong :
         {"[inputs]\nnodes = 3\n", "[inputs]\nnodes = { value = 3 }\n", "[inputs]\nnode = { value = 3, from = 'p' }\n",
          "[inputs]\nnodes = { value = 'x', from = 'p' }\n", "[input]\n", "what_if = [3]\n", "[inputs",
          "title = 3\n"}) {
        const auto bad = read(wrong);
        REQUIRE_MESSAGE(!bad, wrong);
        CHECK(bad.error().kind == ErrorKind::refused);
        CHECK(bad.error().what.find("case.toml, line ") == 0);
    }
}
