// Goal: the visible time is split without a rest, and the words report the right sessions and machine. Method: a made
// run of two snapshots on two nodes. The second node was blocked longer in the second snapshot.

#include "path/telemetry/words.hpp"

#include <doctest/doctest.h>

#include "path/telemetry/summary_text.hpp"
#include "support/made_chronicle.hpp"

using namespace forebay;
using telemetry::summarize;

namespace {

telemetry::Chronicle two_by_two() {
    auto chronicle = test::made_chronicle({.nodes = 2, .node_ranks = 3, .snapshots = 2});
    for (auto& batch : chronicle.batches) {
        batch.blocked_seconds = 1;
        batch.plan_seconds = 0;
        batch.copy_seconds = 0.75;
        batch.blocked_parts = {};
    }
    chronicle.batches[3].blocked_seconds = 4;
    return chronicle;
}

}  // namespace

TEST_CASE("the parts of the visible time are those of the node that was blocked longest, and add up to it") {
    auto chronicle = two_by_two();
    chronicle.batches[3].blocked_parts = {
        .copy_seconds = 0.5, .layout_seconds = 0.25, .ranks_seconds = 0.75, .slot_seconds = 2.5};
    chronicle.batches[2].blocked_parts = {.copy_seconds = 0.9, .layout_seconds = 0.1};
    chronicle.batches[2].missing_ranks = 2;
    const auto summary = summarize(chronicle);
    REQUIRE(summary.rows.size() == 2);
    CHECK(summary.rows[1].blocked_parts == chronicle.batches[3].blocked_parts);
    // Batches of older versions: the rest beside copy, slot and layout was waiting for ranks.
    CHECK(summary.rows[0].blocked_parts ==
          format::BlockedParts{.copy_seconds = 0.75, .layout_seconds = 0, .ranks_seconds = 0.25, .slot_seconds = 0});
    CHECK(summary.parts.copy.sum == 1.25);
    CHECK(summary.parts.layout.sum == 0.25);
    CHECK(summary.parts.ranks.sum == 1);
    CHECK(summary.parts.ranks.max == 0.75);
    CHECK(summary.parts.slot.count == 2);
    CHECK(summary.parts.copy.sum + summary.parts.layout.sum + summary.parts.ranks.sum + summary.parts.slot.sum ==
          summary.blocked.sum);
    CHECK(summary.rows[1].missing_ranks == 2);
    CHECK(summary.missing_records == 2);
    // Contradicting numbers of a damaged file make no part longer than the whole.
    chronicle.batches[3].blocked_parts = {.copy_seconds = 9, .layout_seconds = -1, .ranks_seconds = 1e300};
    const auto row = summarize(chronicle).rows[1];
    CHECK(row.blocked_parts.copy_seconds == 4);
    CHECK(row.blocked_parts.sum() == row.blocked_seconds);
}

TEST_CASE("words say of which sessions numbers are, and which machine there was") {
    auto chronicle = two_by_two();
    auto summary = summarize(chronicle);
    CHECK(telemetry::period_text(summary) == "session 1");
    CHECK(telemetry::nodes_text(summary) == "2 nodes");
    CHECK(telemetry::ranks_text(summary) == "6 ranks");
    for (std::size_t i = 2; i < 4; ++i) {
        chronicle.batches[i].session = 3;
        chronicle.batches[i].ranks = 1;
    }
    summary = summarize(chronicle);
    CHECK(telemetry::period_text(summary) == "sessions 1 to 3");
    CHECK(telemetry::ranks_text(summary) == "1 to 6 ranks");
    CHECK(telemetry::summary_text(summary).find("2 nodes, 1 to 6 ranks in all") != std::string::npos);
    for (auto& batch : chronicle.batches) batch.nodes = 1;
    chronicle.batches.erase(chronicle.batches.begin() + 1);
    chronicle.batches.pop_back();
    CHECK(telemetry::nodes_text(summarize(chronicle)) == "1 node");
    CHECK(telemetry::period_text(summarize({})) == "no session");
}
