// Goal: no advice without an effect in this run. Method: made runs that differ in one thing.

#include "path/telemetry/advice.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/made_chronicle.hpp"

using namespace forebay;

namespace {

bool advises(const telemetry::Chronicle& chronicle, std::string_view words) {
    return std::ranges::any_of(telemetry::summarize(chronicle).advice,
                               [&](const std::string& advice) { return advice.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("fewer files are advised only to a stream of several nodes that has a file for each") {
    const auto run = [](std::uint32_t nodes, const std::string& file) {
        auto chronicle = test::made_chronicle({.nodes = nodes});
        for (auto& batch : chronicle.batches) {
            batch.sync_seconds = 0.8 * batch.drain_seconds;
            batch.file = file;
        }
        return chronicle;
    };
    CHECK(advises(run(4, "own"), "combined:16"));
    CHECK(advises(run(4, ""), "combined:16"));  // from before batches had this field
    CHECK_FALSE(advises(run(1, "own"), "combined:16"));
    CHECK_FALSE(advises(run(4, "combined"), "combined:16"));
    CHECK_FALSE(advises(run(4, "shared"), "combined:16"));
}

TEST_CASE("ranks that wait for late ones are named where they are most of the visible time, and that is much") {
    const auto run = [](double ranks_seconds, double interval) {
        auto chronicle = test::made_chronicle({.nodes = 2, .interval_seconds = interval});
        for (auto& batch : chronicle.batches) {
            batch.blocked_parts.ranks_seconds = ranks_seconds;
            batch.blocked_seconds = batch.blocked_parts.sum();
        }
        return chronicle;
    };
    constexpr auto words = "ranks that wait for slower ranks";
    CHECK(advises(run(1.5, 60), words));
    CHECK_FALSE(advises(run(0.3, 60), words));   // copying is most of it
    CHECK_FALSE(advises(run(1.5, 600), words));  // and this is little of the run
    CHECK_FALSE(advises({}, words));
}
