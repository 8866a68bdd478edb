// Goal: what an application sets for its streams and its agent reaches the drains, and what they did reaches its
// counters and its log. Method: one rank, an agent that is a thread. For the pace, a simulation whose steps take longer
// the faster the staged bytes move, as the control page tells.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <thread>

#include "support/sessions.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

struct Saver {
    Saver(Session& session, const std::string& name, std::size_t elements, const StreamOptions& options)
        : data(elements, 1.0), stream(session.stream(name, options).value()) {
        stream.array("u", f64, {elements}, {packed({{0}, {elements}}, data.data())}).value();
    }
    std::vector<double> data;
    Stream stream;
};

// The drain of 16 MB at this rate, without a limit, takes two seconds and costs half of the computing.
constexpr std::uint64_t agent_rate = 8'000'000;
constexpr double cost = 0.5 / static_cast<double>(agent_rate);

std::uint64_t moved(const stage::Control& page) {
    return page.slot_count.load() == 0 ? 0 : page.slots[0].drained_bytes.load();
}

// Steps of 20 ms, and `cost` of it for each byte a second that moved.
void compute(Session& session, const stage::Control& page, int steps) {
    for (int i = 0; i < steps; ++i) {
        const auto before = moved(page);
        std::this_thread::sleep_for(20ms);
        const auto bytes = static_cast<double>(std::max(moved(page), before) - before);
        std::this_thread::sleep_for(std::chrono::duration<double>(bytes * cost));
        CHECK_FALSE(session.job().value().save);
    }
}

Counters computed_while_draining(const test::TempDirectory& folder, double slowdown_percent_max) {
    auto options = test::options_in(folder, 1);
    options.agent.rate_bytes_per_second = agent_rate;
    options.agent.slowdown_percent_max = slowdown_percent_max;
    auto session = Session::open(options).value();
    const auto found = stage::staging_directories_of(folder.path(), options.run).value();
    const auto staging = stage::Staging::join(found.at(0)).value();
    Saver saver(session, "restart", 1u << 21, {.view = false});
    compute(session, staging.control(), 40);
    saver.stream.save(1).value();
    for (int turn = 0; turn < 20 && saver.stream.counters().newest_durable_step < 1; ++turn)
        compute(session, staging.control(), 10);
    const auto counters = saver.stream.counters();
    session.close().value();
    return counters;
}

}  // namespace

TEST_CASE("a higher priority overtakes; a missed deadline is counted and logged at the end") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.block_bytes = 1u << 16;
    options.streams = {{"analysis", {.deadline = 20ms, .rate_bytes_per_second = 2'000'000}},
                       {"restart", {.priority = 1}}};
    std::string log;
    options.log = [&](const std::string& line) { log += line + "\n"; };
    auto session = Session::open(options).value();
    Saver analysis(session, "analysis", 250'000, options.streams[0].second);
    Saver restart(session, "restart", 10'000, options.streams[1].second);
    analysis.stream.save(1).value();
    REQUIRE(test::soon([&] { return session.draining(); }));
    restart.stream.save(1).value();
    restart.stream.wait_committed(60s).value();
    CHECK(analysis.stream.counters().newest_durable_step == -1);  // takes a second
    CHECK(restart.stream.counters().overtakes == 1);
    analysis.stream.wait_committed(60s).value();
    CHECK(analysis.stream.counters().deadlines_missed == 1);
    CHECK(restart.stream.counters().deadlines_missed == 0);
    session.close().value();
    CHECK(analysis.stream.counters().deadlines_missed == 1);
    CHECK(log.find("stream 'analysis': 1 snapshots were not durable by their deadline") != std::string::npos);
}

TEST_CASE("the slowdown is measured, and kept below its limit by a slower drain") {
    const test::TempDirectory free_folder, paced_folder;
    const auto free = computed_while_draining(free_folder, 0);
    CHECK(free.newest_durable_step == 1);
    CHECK(free.steps_counted > 20);
    CHECK(free.slowdown_percent > 25);
    CHECK(free.drain_rate_bytes_per_second == agent_rate);
    const auto paced = computed_while_draining(paced_folder, 15);
    CHECK(paced.steps_counted > 60);
    CHECK(paced.slowdown_percent < free.slowdown_percent / 2);
    CHECK(paced.drain_rate_bytes_per_second > 0);
    CHECK(paced.drain_rate_bytes_per_second < agent_rate / 2);
    CHECK(paced.limits_overruled == 0);
}

TEST_CASE("a limit that would hold a drain up beyond its deadline is overruled, and that is counted") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.slowdown_percent_max = 1;
    auto session = Session::open(options).value();
    // 16 MB are a quarter of a second at the rate of the beginning.
    Saver calm(session, "calm", 1u << 21, {.view = false, .deadline = 3600s});
    Saver hurried(session, "hurried", 1u << 21, {.view = false, .deadline = 40ms});
    for (auto* saver : {&calm, &hurried}) {
        saver->stream.save(1).value();
        // Without a call that waits, for which the agent would hurry too.
        CHECK(test::soon([&] { return saver->stream.counters().newest_durable_step == 1; }, 60s));
        CHECK(saver->stream.counters().limits_overruled == (saver == &calm ? 0 : 1));
    }
    session.close().value();
}
