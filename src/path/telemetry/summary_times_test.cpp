// Goal: begin and length of a session do not depend on later sessions: they overwrite its status and drain its last
// snapshot. Method: chronicles of a few batches, and numbers worked out by hand.

#include <doctest/doctest.h>

#include "path/telemetry/summary.hpp"

using namespace forebay;
using telemetry::Chronicle;
using telemetry::summarize;

namespace {

constexpr std::int64_t one_second = 1'000'000'000, began = 1'795'420'000 * one_second, zero = began + 30 * one_second;

// A save at `zero` + `at_second` that blocks for 1 s. Its agent commits the save 4 s after the begin.
format::TimingBatch batch_at(std::int64_t step, std::int64_t at_second) {
    const auto begin = zero + at_second * one_second;
    return {.host = "n0",
            .agent_began_unix_ns = began,
            .stream = "s",
            .step = step,
            .snapshot_id = static_cast<std::uint64_t>(step),
            .session = 1,
            .nodes = 1,
            .outcome = "committed",
            .saved_unix_ns = begin,
            .sealed_unix_ns = begin + one_second,
            .drain_unix_ns = begin + 2 * one_second,
            .drained_unix_ns = begin + 3 * one_second,
            .ended_unix_ns = begin + 4 * one_second,
            .blocked_seconds = 1,
            .drain_seconds = 1};
}

format::StatusLine status_from_to(std::uint32_t session, std::int64_t begin_second, std::int64_t end_second) {
    format::StatusLine status{.unix_ns = zero + end_second * one_second, .host = "n0"};
    status.session = session;
    status.application_lives = true;
    status.began_unix_ns = zero + begin_second * one_second;
    return status;
}

}  // namespace

TEST_CASE("the agent begins a session, its last batch ends it, and its status changes neither") {
    const Chronicle alone{.run = "/runs/r", .batches = {batch_at(10, 0), batch_at(20, 40)}};
    auto with_status = alone;
    with_status.statuses = {status_from_to(1, -31, 60)};
    for (const auto& chronicle : {alone, with_status}) {
        const auto summary = summarize(chronicle);
        CHECK(summary.begin_unix_ns == began);
        CHECK(summary.end_unix_ns == zero + 44 * one_second);
        CHECK(summary.time_seconds == 74);
        CHECK(summary.visible_ratio == doctest::Approx(2.0 / 74));
    }
    CHECK(summarize(alone).reported_unix_ns == zero + 44 * one_second);
    CHECK(summarize(with_status).reported_unix_ns == zero + 60 * one_second);
}

TEST_CASE("a session without batches has the time of its statuses") {
    Chronicle chronicle{.run = "/runs/r", .batches = {batch_at(10, 0)}};
    chronicle.statuses = {status_from_to(2, 90, 100)};
    const auto summary = summarize(chronicle);
    CHECK(summary.sessions == std::vector<std::uint32_t>{1, 2});
    CHECK(summary.time_seconds == 34 + 10);
    CHECK(summary.end_unix_ns == zero + 100 * one_second);
}

TEST_CASE("a snapshot that a later agent drains an hour later makes its session no longer") {
    auto late = batch_at(20, 40);
    for (auto* time : {&late.agent_began_unix_ns, &late.drain_unix_ns, &late.drained_unix_ns, &late.ended_unix_ns})
        *time += 3600 * one_second;
    const auto summary = summarize({.run = "/runs/r", .batches = {batch_at(10, 0), late}});
    CHECK(summary.begin_unix_ns == began);
    CHECK(summary.time_seconds == 71);  // up to the seal of the second snapshot
    CHECK(summary.end_unix_ns == late.ended_unix_ns);
}
