// Goal: each number of a summary follows its contract, also if clocks of nodes differ, jump or are unknown. Method:
// chronicles of a few batches, and numbers worked out by hand; made runs with slow nodes and targets.

#include "path/telemetry/summary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/made_chronicle.hpp"

using namespace forebay;
using telemetry::Chronicle;
using telemetry::summarize;

namespace {

constexpr std::int64_t second = 1'000'000'000, noon = 1'795'420'000 * second;

// A node that saves at noon + `at` for 1 s. It begins to drain 1 GB 2 s later, and ends 0.5 s after the drain.
format::TimingBatch batch(std::uint32_t node, std::int64_t step, double at, double drain) {
    const auto begin = noon + static_cast<std::int64_t>(at * 1e9);
    const auto drained = begin + 2 * second + static_cast<std::int64_t>(drain * 1e9);
    return {.host = std::string("n").append(std::to_string(node)),
            .virtual_node = "0",
            .agent = "process",
            .stream = "s",
            .step = step,
            .snapshot_id = static_cast<std::uint64_t>(step),
            .session = 1,
            .node = node,
            .nodes = 2,
            .node_ranks = 3,
            .ranks = 6,
            .outcome = node == 0 ? "committed" : "found_committed",
            .bytes = 1'000'000'000,
            .stored_bytes = 500'000'000,
            .saved_unix_ns = begin,
            .sealed_unix_ns = begin + second,
            .drain_unix_ns = begin + 2 * second,
            .drained_unix_ns = drained,
            .ended_unix_ns = drained + second / 2,
            .blocked_seconds = 1,
            .copy_seconds = 0.75,
            .drain_seconds = drain,
            .sync_seconds = 0.25,
            .commit_seconds = 0.5,
            .slots = 1};
}

// Steps 10 and 20 of two nodes, 40 s apart. Node 1 drains step 10 in 8 s; all other drains take 4 s. Step 20 waited 3
// s.
Chronicle two_by_two() {
    Chronicle chronicle{.run = "/runs/r"};
    chronicle.batches = {batch(0, 10, 0, 4), batch(1, 10, 0, 8), batch(0, 20, 40, 4), batch(1, 20, 40, 4)};
    chronicle.batches[3].blocked_seconds = 4;
    chronicle.batches[3].wait_seconds = 3;
    chronicle.batches[3].interval_seconds = 40;
    chronicle.batches[1].retries = 2;
    chronicle.batches[1].why = {"because"};
    chronicle.batches[0].why = {"because", "and so"};
    return chronicle;
}

}  // namespace

TEST_CASE("a snapshot is the slowest of its nodes") {
    const auto summary = summarize(two_by_two());
    REQUIRE(summary.rows.size() == 2);
    const auto& first = summary.rows[0];
    CHECK(first.step == 10);
    CHECK(first.nodes == 2);
    CHECK(first.nodes_told == 2);
    CHECK(first.ranks == 6);
    CHECK(first.outcome == "committed");
    CHECK(first.bytes == 2'000'000'000);
    CHECK(first.stored_bytes == 1'000'000'000);
    CHECK(first.drain_seconds == 8);
    CHECK(first.slowest_node == "n1");
    CHECK(first.straggler_ratio == doctest::Approx(8.0 / 6));
    CHECK(first.drained_unix_ns == noon + 10 * second);
    CHECK(first.durable_unix_ns == noon + 6 * second + second / 2);  // as the agent of node 0 says
    CHECK(first.durable_seconds == 6.5);
    CHECK(first.interval_seconds == 0);
    CHECK(first.slack == 0);
    CHECK(first.why == std::vector<std::string>{"because", "and so"});
    const auto& second_row = summary.rows[1];
    CHECK(second_row.interval_seconds == 40);
    CHECK(second_row.slack == 10);
    CHECK(second_row.blocked_seconds == 4);
    CHECK(second_row.wait_seconds == 3);
}

TEST_CASE("a run is the sum of its snapshots") {
    const auto summary = summarize(two_by_two());
    CHECK(summary.sessions == std::vector<std::uint32_t>{1});
    CHECK(summary.begin_unix_ns == noon);
    CHECK(summary.end_unix_ns == noon + 46 * second + second / 2);
    CHECK(summary.time_seconds == 46.5);
    CHECK(summary.nodes == 2);
    CHECK(summary.ranks == 6);
    CHECK(summary.blocked.count == 2);
    CHECK(summary.blocked.median == 2.5);
    CHECK(summary.blocked.p95 == doctest::Approx(3.85));
    CHECK(summary.blocked.max == 4);
    CHECK(summary.blocked.sum == 5);
    CHECK(summary.waited.count == 1);
    CHECK(summary.waited.max == 3);
    CHECK(summary.drained.count == 2);
    CHECK(summary.drained.sum == 12);
    CHECK(summary.durable.count == 2);
    CHECK(summary.bytes_saved == 4'000'000'000);
    CHECK(summary.bytes_drained == 4'000'000'000);
    CHECK(summary.bytes_stored == 2'000'000'000);
    CHECK(summary.visible_ratio == doctest::Approx(5 / 46.5));
    CHECK(summary.hidden_ratio == doctest::Approx(12.0 / 17));
    CHECK(summary.jitter == doctest::Approx(3.85 / 2.5));
    CHECK(summary.slack_median == 10);
    CHECK(summary.slack_worst == 10);
    CHECK(summary.rate_peak == 1e9 / 4);
    CHECK(summary.rate_median == doctest::Approx((1e9 / 4 + 1e9 / 8) / 2));
    CHECK(summary.newest_durable_step == 20);
    CHECK(summary.newest_durable_stream == "s");
    CHECK(summary.retries == 2);
    REQUIRE(summary.node_rows.size() == 2);
    CHECK(summary.node_rows[1].name == "n1");
    CHECK(summary.node_rows[1].drains == 2);
    CHECK(summary.node_rows[1].drain_seconds == 12);
    CHECK(summary.node_rows[1].rate == doctest::Approx((1e9 / 8 + 1e9 / 4) / 2));
    CHECK(summary.node_rows[1].blocked_seconds == 5);
    CHECK(summary.node_rows[1].retries == 2);
}

TEST_CASE("what is missing or failed is no committed snapshot") {
    auto chronicle = two_by_two();
    chronicle.batches.erase(chronicle.batches.begin());  // node 0 of step 10
    chronicle.batches[0].outcome = "set_aside";
    chronicle.batches[1].outcome = "failed";
    chronicle.batches[1].drained_unix_ns = 0;
    chronicle.batches[2].outcome = "";
    auto summary = summarize(chronicle);
    REQUIRE(summary.rows.size() == 2);
    CHECK(summary.rows[0].outcome == "set_aside");
    CHECK(summary.rows[0].nodes_told == 1);
    CHECK(summary.rows[0].drained_unix_ns == 0);
    CHECK(summary.rows[1].outcome == "failed");
    CHECK(summary.rows[1].drained_unix_ns == 0);
    CHECK(summary.failed == 1);
    CHECK(summary.committed == 0);
    CHECK(summary.newest_durable_step == -1);
    CHECK(summary.bytes_drained == 2'000'000'000);
    CHECK(summary.node_rows[0].failures == 1);
    // A second agent of the node goes on after the first, and commits.
    auto again = chronicle.batches[1];
    again.outcome = "committed";
    again.ended_unix_ns += 100 * second;
    again.drained_unix_ns = again.ended_unix_ns - second;
    chronicle.batches.push_back(again);
    summary = summarize(chronicle);
    REQUIRE(summary.rows.size() == 2);
    CHECK(summary.rows[1].outcome == "committed");
    CHECK(summary.rows[1].nodes_told == 2);
    CHECK(summary.rows[1].bytes == 2'000'000'000);
}

TEST_CASE("sessions, streams and lines of one step are snapshots of their own") {
    auto chronicle = two_by_two();
    for (auto& batch : chronicle.batches) batch.step = 10;
    CHECK(summarize(chronicle).rows.size() == 2);  // by their identity
    chronicle.batches[0].session = 2;
    CHECK(summarize(chronicle).rows.size() == 3);
    chronicle.batches[1].stream = "t";
    CHECK(summarize(chronicle).rows.size() == 3);
    CHECK(summarize(chronicle).sessions == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("the newest durable step is that of the newest session, whatever its clock says") {
    auto chronicle = two_by_two();
    for (std::uint32_t node = 0; node < 2; ++node) {
        auto later = batch(node, 12, -3600, 4);  // the clock was set back by an hour between two sessions
        later.session = 2;
        chronicle.batches.push_back(later);
    }
    auto summary = summarize(chronicle);
    CHECK(summary.newest_durable_step == 12);
    CHECK(summary.newest_durable_unix_ns == noon + (-3600 + 2 + 4) * second + second / 2);
    // An agent knows a commit before its batch arrives.
    format::StatusLine status{.host = "n0"};
    status.session = 2;
    status.streams = {{.name = "s", .counts = {.newest_durable_step = 14}}};
    chronicle.statuses = {status};
    summary = summarize(chronicle);
    CHECK(summary.newest_durable_step == 14);
    CHECK(summary.newest_durable_unix_ns == 0);
    // A status of an earlier session says nothing about this session.
    chronicle.statuses[0].session = 1;
    CHECK(summarize(chronicle).newest_durable_step == 12);
}

TEST_CASE("clocks that differ or jump, and numbers that are none, give no negative time and no NaN") {
    auto chronicle = two_by_two();
    chronicle.batches[1].saved_unix_ns += 3600 * second;     // node 1 is an hour late
    chronicle.batches[2].drained_unix_ns -= 86400 * second;  // node 0 went back by a day
    chronicle.batches[2].ended_unix_ns = 1;
    chronicle.batches[3].saved_unix_ns = 0;
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    chronicle.batches[0].drain_seconds = nan;
    chronicle.batches[1].blocked_seconds = -inf;
    chronicle.batches[2].wait_seconds = inf;
    chronicle.batches[3].interval_seconds = -5;
    chronicle.batches[3].slowdown_percent = nan;
    chronicle.batches[3].slowdown_steps = 7;
    chronicle.batches[0].targets = {{.name = "OST0001", .bytes = 5, .busy_seconds = nan, .writes = 1}};
    const auto summary = summarize(chronicle);
    for (const double number :
         {summary.time_seconds, summary.visible_ratio, summary.hidden_ratio, summary.slack_median, summary.slack_worst,
          summary.jitter, summary.rate_peak, summary.rate_median, summary.slowdown_percent, summary.blocked.sum,
          summary.waited.sum, summary.drained.sum, summary.durable.sum}) {
        CHECK(std::isfinite(number));
        CHECK(number >= 0);
    }
    for (const auto& row : summary.rows)
        for (const double number : {row.durable_seconds, row.drain_seconds, row.interval_seconds, row.slack,
                                    row.straggler_ratio, row.blocked_seconds, row.wait_seconds}) {
            CHECK(std::isfinite(number));
            CHECK(number >= 0);
        }
    CHECK(summary.target_rows.at(0).rate == 0);
    CHECK(summarize(Chronicle{}).rows.empty());
    CHECK(summarize(Chronicle{}).advice.empty());
}

TEST_CASE("the slow node and the slow target are named, with the line that leaves them out") {
    const auto chronicle =
        test::made_chronicle({.targets = 24, .slow_node = 3, .slow_target = 20, .slow_target_ratio = 0.1});
    const auto summary = summarize(chronicle);
    REQUIRE(summary.slow_nodes.size() == 1);
    CHECK(summary.slow_nodes[0].name == "nid10003");
    CHECK(summary.slow_nodes[0].ratio == doctest::Approx(0.3).epsilon(0.2));
    REQUIRE(summary.slow_targets.size() == 1);
    CHECK(summary.slow_targets[0].name == "OST0020");
    CHECK(summary.slow_targets[0].ratio == doctest::Approx(0.1).epsilon(0.2));
    REQUIRE(summary.advice.size() == 2);
    CHECK(summary.advice[0].ends_with("\n  #SBATCH --exclude=nid10003"));
    // Names are hexadecimal: OST0020 is index 32. Made runs count 0 to 9 and 10 to 19, which are 16 to 25.
    CHECK(summary.advice[1].ends_with("\n  lfs setstripe -c 23 -o 0-9,16-25,33-35 /made/run"));
    CHECK(summary.target_rows.size() == 24);
}

TEST_CASE("a node is not slow because its targets are") {
    // Each node writes to 8 of 48 targets, always the same. Nodes 4 to 11 write to target 11, and drain at half the
    // usual rate.
    test::MadeRun sample{.nodes = 48, .node_bytes = 128u << 20, .targets = 48, .slow_node = 30, .slow_target = 11};
    sample.slow_target_ratio = 0.1;
    const auto summary = summarize(test::made_chronicle(sample));
    REQUIRE(summary.slow_targets.size() == 1);
    CHECK(summary.slow_targets[0].name == "OST0011");
    REQUIRE(summary.slow_nodes.size() == 1);
    CHECK(summary.slow_nodes[0].name == "nid10030");
    CHECK(summary.advice[0].find("1 of 48 nodes drains slowly") == 0);
    CHECK(summary.advice[1].find("1 of 48 storage targets is slow") == 0);
}

TEST_CASE("snapshots that drain at other rates compare") {
    auto chronicle = test::made_chronicle({.slow_node = 3});
    for (auto& batch : chronicle.batches)
        if (batch.step % 200 == 0) batch.drain_seconds *= 20;
    const auto summary = summarize(chronicle);
    REQUIRE(summary.slow_nodes.size() == 1);
    CHECK(summary.slow_nodes[0].name == "nid10003");
}

TEST_CASE("a healthy run gets no advice, and nobody is named") {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        const auto summary = summarize(test::made_chronicle({.targets = 24, .seed = seed}));
        CHECK(summary.slow_nodes.empty());
        CHECK(summary.slow_targets.empty());
        CHECK(summary.advice.empty());
    }
}

TEST_CASE("advice about slots, slack, sync and slowdown has the lines of the configuration") {
    auto chronicle = two_by_two();
    auto summary = summarize(chronicle);
    REQUIRE(summary.advice.size() == 2);  // the second: retries
    CHECK(summary.advice[0] ==
          "1 of 2 saves of stream s waited 3.00 s in all for a slot that was still draining. A second slot needs 1.00 "
          "GB more memory on each node:\n  [streams.s]\n  slots = 2");
    for (auto& batch : chronicle.batches) {
        batch.wait_seconds = batch.retries = 0;
        batch.blocked_seconds = 1;
        batch.interval_seconds = 3;
        batch.sync_seconds = 3.5;
        batch.slowdown_percent = 12;
        batch.slowdown_low_percent = 9;
        batch.slowdown_high_percent = 14;
        batch.slowdown_steps = 80;
    }
    chronicle.batches[1].sync_seconds = 7;
    summary = summarize(chronicle);
    REQUIRE(summary.advice.size() == 3);
    CHECK(
        summary.advice[0] ==
        "Drains of stream s take 6.00 s, and saves begin 3.00 s apart without their waits (slack 0.50): storage is too "
        "slow. Save less often: every 2nd of these saves.");
    CHECK(summary.advice[1].find("88 % of the time of drains") == 0);
    CHECK(summary.advice[1].ends_with("\n  [streams.s]\n  file = \"combined:16\""));
    CHECK(summary.advice[2].ends_with("\n  [agent]\n  slowdown_percent_max = 5"));
    CHECK(summary.slowdown_percent == 12);
    CHECK(summary.slowdown_steps == 80);
}

TEST_CASE("a node that has less to write is not called slow") {
    auto chronicle = test::made_chronicle({});
    for (auto& batch : chronicle.batches)
        if (batch.node == 3) batch.bytes = batch.stored_bytes = batch.bytes / 4;
    CHECK(summarize(chronicle).slow_nodes.empty());
}

TEST_CASE("a limit that holds drains back is named, and no second slot where storage cannot follow") {
    auto chronicle = test::made_chronicle({.nodes = 1, .interval_seconds = 1, .node_rate = 100e6});
    for (auto& batch : chronicle.batches) {
        batch.rate_limit_bytes_per_second = 100'000'000;
        batch.wait_seconds = 0.5;
    }
    const auto advice = summarize(chronicle).advice;
    REQUIRE(advice.size() == 2);
    CHECK(advice[0].find("more slots would not change that") != std::string::npos);
    CHECK(advice[0].find("slots = 2") == std::string::npos);
    CHECK(advice[1].find("at the limit of 100 MB/s that you have set") != std::string::npos);
}

TEST_CASE("names that a shell or TOML would take for more are not in lines to paste") {
    auto chronicle = test::made_chronicle({.slow_node = 3});
    for (auto& batch : chronicle.batches)
        if (batch.node == 3) batch.host = "x;reboot\n#SBATCH -A you";
    auto summary = summarize(chronicle);
    REQUIRE(summary.slow_nodes.size() == 1);
    REQUIRE(summary.advice.size() == 1);
    CHECK(summary.advice[0].find("--exclude") == std::string::npos);
    CHECK(summary.advice[0].find('\n') == std::string::npos);
    CHECK(summary.advice[0].find('\x1b') == std::string::npos);
    for (auto& batch : chronicle.batches)
        if (batch.node == 3) batch.host = std::string(5000, '\xe4');
    summary = summarize(chronicle);
    REQUIRE(summary.advice.size() == 1);
    CHECK(summary.advice[0].size() < 400);
    auto waits = two_by_two();
    for (auto& batch : waits.batches) batch.stream = "a\"]\nx = 1";
    CHECK(summarize(waits).advice.at(0).ends_with("more memory on each node:\n  slots = 2"));
    for (auto& batch : waits.batches) batch.stream = "a.b c";
    CHECK(summarize(waits).advice.at(0).ends_with("more memory on each node:\n  [streams.\"a.b c\"]\n  slots = 2"));
}

TEST_CASE("bytes over time: each write in the parts it lies in") {
    Chronicle chronicle;
    auto own = batch(0, 10, 0, 4);
    own.targets = {{.name = "A", .bytes = 6144, .writes = 3, .first_unix_ns = noon, .last_unix_ns = noon + 3 * second},
                   {.name = "B", .bytes = 2048, .writes = 1}};
    const auto write = [](double at, double seconds, std::uint64_t bytes, std::uint16_t target) {
        auto timing =
            test::made_timing(format::TimingKind::write, noon + static_cast<std::int64_t>(at * 1e9), seconds, bytes);
        timing.target = target;
        return timing;
    };
    own.timings = {write(0, 2, 4096, 0), write(1.5, 1, 2048, 1), write(3, 0, 1024, 0), write(-1, 0.5, 1024, 0),
                   write(3.5, 1, 2048, 7)};
    chronicle.batches = {own};
    const auto close_to = [](const std::vector<double>& actual, const std::vector<double>& wanted) {
        REQUIRE(actual.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(actual[i] == doctest::Approx(wanted[i]));
    };
    close_to(telemetry::bytes_over_time(chronicle, noon, noon + 4 * second, 4), {2048, 3072, 1024, 2048});
    close_to(telemetry::bytes_over_time(chronicle, noon, noon + 4 * second, 4, "A"), {2048, 2048, 0, 1024});
    close_to(telemetry::bytes_over_time(chronicle, noon, noon + 4 * second, 4, "B"), {0, 1024, 1024, 0});
    CHECK(telemetry::bytes_over_time(chronicle, noon, noon, 4) == std::vector<double>(4, 0));
    CHECK(telemetry::bytes_over_time(chronicle, noon, noon + second, 0).empty());
    // Without timings a target counts evenly from its first write to its last.
    chronicle.batches[0].timings.clear();
    chronicle.batches[0].targets[0] = {
        .name = "A", .bytes = 3000, .writes = 3, .first_unix_ns = noon + second, .last_unix_ns = noon + 4 * second};
    close_to(telemetry::bytes_over_time(chronicle, noon, noon + 4 * second, 4), {0, 1000, 1000, 1000});
    const auto summary = summarize(chronicle);
    const auto names =
        telemetry::bytes_over_time_by_name(chronicle, summary.rows[0], noon, noon + 4 * second, 2, false);
    REQUIRE(names.contains("A"));
    close_to(names.at("A"), {1000, 2000});
    CHECK(telemetry::bytes_over_time_by_name(chronicle, summary.rows[0], noon, noon + 4 * second, 2, true)
              .contains("n0"));
}
