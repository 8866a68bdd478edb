// Goal: each late save or drain gets its sentence with the right numbers. A usual save or drain gets no sentence.
// Method: made batches with one change per case.

#include "path/telemetry/why.hpp"

#include <doctest/doctest.h>

#include <random>

#include "support/made_chronicle.hpp"

using namespace forebay;
using format::TimingBatch;
using telemetry::Batches;

namespace {

/// Six usual snapshots of four nodes, and one more to change.
class Story {
public:
    explicit Story(std::uint32_t targets = 4) {
        std::mt19937 random(7);
        const test::MadeRun run{.nodes = 4, .snapshots = 7, .targets = targets, .noise = 0.02};
        for (int snapshot = 0; snapshot < 7; ++snapshot)
            for (std::uint32_t node = 0; node < 4; ++node)
                batches_.push_back(test::made_batch(run, node, snapshot, random));
    }
    TimingBatch& batch(int snapshot, std::uint32_t node) {
        return batches_[static_cast<std::size_t>(snapshot) * 4 + node];
    }
    std::vector<std::string> why() {
        Batches now, before;
        for (std::size_t i = 0; i < batches_.size(); ++i) (i < 24 ? before : now).push_back(&batches_[i]);
        return telemetry::why_slow(now, before);
    }

private:
    std::vector<TimingBatch> batches_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what goes as usual is not explained") {
    CHECK(Story().why().empty());
    CHECK(telemetry::why_slow({}, {}).empty());
}

TEST_CASE("a slow drain is told with its ratio, node, target and the share of sync") {
    Story story;
    auto& slow = story.batch(6, 2);
    const double usual = story.batch(5, 2).drain_seconds;
    slow.drain_seconds = 4 * usual;
    slow.sync_seconds = 0.6 * slow.drain_seconds;
    slow.targets[1].busy_seconds /= 0.05;
    slow.retries = 2;
    const auto why = story.why();
    REQUIRE(why.size() == 1);
    CHECK(has(why[0], "the drain of step 700 took"));
    CHECK((has(why[0], "4.0 x the usual") || has(why[0], "4.1 x the usual") || has(why[0], "3.9 x the usual")));
    CHECK(has(why[0], "on node nid10002"));
    CHECK(has(why[0], "whose target OST0001 wrote at 0.05 of the usual rate"));
    CHECK(has(why[0], "60 % of it was sync"));
    CHECK(has(why[0], "2 tries before had failed"));
}

TEST_CASE("a wait for a slot is told with the drain that held it") {
    Story story;
    auto& waiter = story.batch(6, 1);
    waiter.wait_seconds = 12;
    waiter.waited_for_step = 600;
    story.batch(5, 3).drain_seconds *= 5;
    const auto why = story.why();
    REQUIRE(!why.empty());
    CHECK(has(why[0], "step 700 waited 12.0 s for a slot on node nid10001: the drain of step 600 took"));
    CHECK(has(why[0], "on node nid10003"));
}

TEST_CASE("a wait for a drain that is as usual says that saves come too often") {
    Story story;
    auto& waiter = story.batch(6, 1);
    waiter.wait_seconds = 1;
    waiter.interval_seconds = 2;
    waiter.waited_for_step = 600;
    const auto why = story.why();
    REQUIRE(why.size() == 1);
    CHECK(has(
        why[0],
        "a drain and its commit take 1.4 s, as usual, and saves begin 1.5 s after the last one ended, with 1 slot"));
}

TEST_CASE("a slow copy, a rank that comes late and a late commit have sentences of their own") {
    Story copy;
    copy.batch(6, 0).copy_seconds *= 3;
    REQUIRE(copy.why().size() == 1);
    CHECK(has(copy.why()[0], "copying step 700 took 1.2 s, 3.0 x the usual 0.4 s, on node nid10000"));

    Story late;
    for (auto& timing : late.batch(6, 3).timings)
        if (timing.kind == 1 && (timing.flags & format::timing_source_mask) == 2) timing.start_unix_ns += 900'000'000;
    REQUIRE(late.why().size() == 1);
    CHECK(has(late.why()[0], "rank 2 of node nid10003 began to save step 700 0.9 s after the first rank"));

    Story commit;
    commit.batch(6, 0).commit_seconds = 14;
    commit.batch(6, 2).drained_unix_ns += 14'000'000'000;
    REQUIRE(commit.why().size() == 1);
    CHECK(
        has(commit.why()[0],
            "the commit of step 700 came 14.0 s after the data of node nid10000: the data of node nid10002 came last"));
}

TEST_CASE("the first snapshots are compared with other nodes, and one alone with nothing") {
    Story story;
    story.batch(0, 2).drain_seconds *= 5;
    Batches first;
    for (std::uint32_t node = 0; node < 4; ++node) first.push_back(&story.batch(0, node));
    const auto why = telemetry::why_slow(first, {});
    REQUIRE(why.size() == 1);
    CHECK(has(why[0], "on node nid10002"));
    CHECK(telemetry::why_slow({&story.batch(0, 2)}, {}).empty());
}
