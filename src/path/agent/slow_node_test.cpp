// Goal: an agent finds that its node is slow, after it came last twice and no sooner. The remaining agents read nothing
// for that. A file system that is slow as a whole, and healthy runs, give no slow node. Probes bring a node back.
// Method: made drains of 16 nodes, and status lines in a directory.

#include "path/agent/slow_node.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/bytes.hpp"
#include "core/format/status_line.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::agent;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t step_bytes = 1u << 30;

/// Nodes that drain step by step, each with an agent that checks itself. The slowest node commits.
struct Drainers {
    explicit Drainers(std::size_t count) : drains(count), rates(count, 1e9) {
        for (std::size_t i = 0; i < count; ++i) {
            drains[i].name = "n" + std::to_string(i);
            agents.push_back(std::make_unique<SlowNode>(
                [this, i] {
                    ++looks;
                    auto others = drains;
                    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
                    others.resize(std::min<std::size_t>(others.size(), 16));
                    return others;
                },
                0s));
        }
    }
    void step() {
        std::size_t last = 0;
        double longest = 0;
        for (std::size_t i = 0; i < drains.size(); ++i) {
            const auto seconds = static_cast<double>(step_bytes) / rates[i];
            drains[i].bytes += step_bytes;
            drains[i].seconds += seconds;
            if (seconds > longest) last = i;
            longest = std::max(longest, seconds);
        }
        for (std::size_t i = 0; i < drains.size(); ++i)
            agents[i]->hear({.what = i == last ? What::committed : What::found_committed},
                            static_cast<std::uint32_t>(drains.size()), drains[i]);
    }
    std::vector<std::size_t> slow() const {
        std::vector<std::size_t> nodes;
        for (std::size_t i = 0; i < agents.size(); ++i)
            if (!agents[i]->why().empty()) nodes.push_back(i);
        return nodes;
    }

    std::vector<NodeDrained> drains;
    std::vector<double> rates;
    std::vector<std::unique_ptr<SlowNode>> agents;
    int looks = 0;
};

}  // namespace

TEST_CASE("a node at 0.3 finds itself slow at the second snapshot, with its ratio, and no other does") {
    Drainers job(8);
    job.rates[5] *= 0.3;
    job.step();
    CHECK(job.looks == 0);
    CHECK(job.slow().empty());
    job.step();
    CHECK(job.looks == 1);
    CHECK(job.slow() == std::vector<std::size_t>{5});
    CHECK(job.agents[5]->why() == "this node drains at 0.30 of the usual rate");
}

TEST_CASE("a node that becomes slow after many good snapshots is found at its third one that comes last") {
    Drainers job(8);
    for (int i = 0; i < 100; ++i) {
        job.rates[i % 8] *= 0.99;  // they come last in turns
        job.step();
    }
    CHECK(job.slow().empty());
    job.rates[2] *= 0.3;
    for (int i = 0; i < 3; ++i) job.step();
    CHECK(job.slow() == std::vector<std::size_t>{2});
}

TEST_CASE("a file system that becomes slow as a whole names nobody, and neither does a job of three nodes") {
    Drainers job(8);
    job.rates[3] *= 0.8;
    for (int i = 0; i < 10; ++i) job.step();
    for (auto& rate : job.rates) rate *= 0.1;
    for (int i = 0; i < 10; ++i) job.step();
    CHECK(job.slow().empty());
    Drainers few(3);
    few.rates[1] *= 0.1;
    for (int i = 0; i < 10; ++i) few.step();
    CHECK(few.slow().empty());
    CHECK(few.looks == 0);
}

TEST_CASE("50 healthy runs name nobody, and read hardly anything") {
    int looks = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> spread(0, 0.2);
        Drainers job(64);
        for (int i = 0; i < 100; ++i) {
            for (auto& rate : job.rates) rate = 1e9 * std::exp(spread(random));
            job.step();
        }
        CAPTURE(seed);
        CHECK(job.slow().empty());
        looks += job.looks;
    }
    CHECK(looks < 200);  // of 320,000 drains
}

TEST_CASE("two good probes in a row bring it back, and it says so once") {
    Drainers job(8);
    job.rates[5] *= 0.3;
    for (int i = 0; i < 2; ++i) job.step();
    auto& agent = *job.agents[5];
    const auto now = sys::Clock::now() + 1s;
    CHECK(agent.is_due(now));
    agent.probed(0.9, now);
    agent.probed(0.3, now);
    agent.probed(0.9, now);
    CHECK_FALSE(agent.why().empty());
    CHECK_FALSE(agent.take_event());
    agent.probed(0.9, now);
    CHECK(agent.why().empty());
    CHECK_FALSE(agent.is_due(now));
    const auto event = agent.take_event();
    REQUIRE(event);
    CHECK(event->what == What::writes_again);
    CHECK_FALSE(agent.take_event());
}

TEST_CASE("a probe that fails doubles the wait, up to 16 times") {
    const auto begin = sys::Clock::now();
    ProbePlan plan(begin, 60s);
    CHECK_FALSE(plan.is_due(begin + 59s));
    CHECK(plan.is_due(begin + 60s));
    auto now = begin + 60s;
    for (const auto pause : {120s, 240s, 480s, 960s, 960s}) {
        CHECK_FALSE(plan.probed(0.5, now));
        CHECK_FALSE(plan.is_due(now + pause - 1s));
        CHECK(plan.is_due(now + pause));
        now += pause;
    }
    CHECK_FALSE(plan.probed(0.8, now));
    CHECK(plan.is_due(now));
    CHECK(plan.probed(0.8, now));
}

TEST_CASE("at most 16 status lines of others are read, of this session alone") {
    test::TempDirectory folder;
    const NodeFileOfRun own{
        .run = folder.path(), .host = "n07", .virtual_node = "0", .name = "status", .ending = "json"};
    auto& store = sys::posix_store();
    store.make_directories(folder / "forebay").value();
    for (int i = 0; i < 40; ++i) {
        format::StatusLine line{.host = "n" + std::to_string(i / 10) + std::to_string(i % 10), .virtual_node = "0"};
        line.session = i == 20 ? 1 : 2;
        line.counts.bytes_drained = static_cast<std::uint64_t>(i + 1) << 20;
        line.counts.drain_seconds = 1;
        auto file = own;
        file.host = line.host;
        auto open = store.open(file.path(), sys::Access::create).value();
        open->write(0, bytes_of(format::encode(line))).value();
    }
    store.open(folder / "forebay/status-n99-0.json", sys::Access::create).value()->write(0, bytes_of("torn")).value();
    const auto drains = drains_of_others(store, own, 2);
    CHECK(drains.size() >= 14);
    CHECK(drains.size() <= 16);
    CHECK(std::ranges::none_of(drains, [](const auto& drain) { return drain.name == "n07" || drain.name == "n20"; }));
    CHECK(drains_of_others(store, own, 3).empty());
}
