// Goal: the settings for streams and for the agent reach the drains, and the effects of the drains reach the counters
// and the log. Method: one rank, an agent thread. For the pace, a simulation puts made-up numbers on the control page
// in place of measured times.

#include <doctest/doctest.h>

#include <thread>

#include "core/sys/clock.hpp"
#include "path/node/step_clock.hpp"
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

// A drain of 8 MB takes four seconds at this rate.
constexpr std::uint64_t agent_rate = 2'000'000;
constexpr std::size_t elements = 1'000'000;

// A simulation with steps of 100 ms, and of 200 ms while staged bytes move. The agent gets these numbers; no time
// passes.
class Simulation {
public:
    explicit Simulation(node::Control& page) : page_(page) {}
    void compute(int steps) {
        for (int i = 0; i < steps; ++i) {
            now_ += is_moving() ? 200ms : 100ms;
            clock_.step(page_, now_);
        }
    }
    bool is_moving() const { return (page_.moving.load() & 1u) != 0; }

private:
    node::Control& page_;
    node::StepClock clock_;
    sys::Clock::time_point now_;
};

// The counts after the drain under way has learnt its cost and runs at `rate`.
Counters computed_while_draining(const test::TempDirectory& folder, double slowdown_percent_max, std::uint64_t rate) {
    auto options = test::options_in(folder, 1);
    options.agent.rate_bytes_per_second = agent_rate;
    options.agent.slowdown_percent_max = slowdown_percent_max;
    auto session = Session::open(options).value();
    const auto directories = node::staging_directories_of(folder.path(), options.run).value();
    auto staging = node::Staging::join(directories.at(0)).value();
    Simulation simulation(staging.control());
    Saver saver(session, "restart", elements, {.view = false});
    simulation.compute(11);
    saver.stream.save(1).value();
    CHECK(test::soon([&] { return simulation.is_moving(); }));
    CHECK(test::soon([&] {
        simulation.compute(1);
        const auto now = saver.stream.counters();
        return now.slowdown_percent > 0 && now.drain_rate_bytes_per_second == rate;
    }));
    const auto counters = saver.stream.counters();
    CHECK(counters.newest_durable_step == -1);
    session.close().value();
    return counters;
}

}  // namespace

TEST_CASE("a higher priority overtakes; a missed deadline is counted and logged at the end") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.block_bytes = 1u << 16;
    options.streams = {{"analysis", {.deadline = 20ms, .rate_bytes_per_second = 500'000}},
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
    CHECK(analysis.stream.counters().newest_durable_step == -1);  // the drain takes four seconds
    CHECK(restart.stream.counters().overtakes == 1);
    analysis.stream.wait_committed(60s).value();
    CHECK(analysis.stream.counters().deadlines_missed == 1);
    CHECK(restart.stream.counters().deadlines_missed == 0);
    session.close().value();
    CHECK(analysis.stream.counters().deadlines_missed == 1);
    CHECK(log.find("stream 'analysis': 1 snapshots were not durable by their deadline") != std::string::npos);
}

TEST_CASE("the steps of a simulation are those between its calls of job()") {
    const test::TempDirectory folder;
    auto session = Session::open(test::options_in(folder, 1)).value();
    Saver saver(session, "restart", elements, {.view = false});
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(session.job().value().save);
        std::this_thread::sleep_for(120ms);  // each is long enough to be logged
    }
    CHECK(saver.stream.counters().steps_counted == 2);
    session.close().value();
}

TEST_CASE("the slowdown is told, and a limit that it passes makes the drain slower, down to the least rate") {
    const test::TempDirectory free_folder, paced_folder;
    const auto free = computed_while_draining(free_folder, 0, agent_rate);
    CHECK(free.slowdown_percent == doctest::Approx(100));
    CHECK(free.limits_overruled == 0);
    const auto paced = computed_while_draining(paced_folder, 15, 1'000'000);
    CHECK(paced.slowdown_percent == doctest::Approx(100));
    CHECK(paced.limits_overruled == 0);
}

TEST_CASE("a limit that would hold a drain up beyond its deadline is overruled, and that is counted") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.slowdown_percent_max = 1;
    auto session = Session::open(options).value();
    // 16 MB take a quarter of a second at the first rate.
    Saver calm(session, "calm", 1u << 21, {.view = false, .deadline = 3600s});
    Saver hurried(session, "hurried", 1u << 21, {.view = false, .deadline = 40ms});
    for (auto* saver : {&calm, &hurried}) {
        saver->stream.save(1).value();
        // Without a waiting call, for which the agent would hurry too.
        CHECK(test::soon([&] { return saver->stream.counters().newest_durable_step == 1; }));
        CHECK(saver->stream.counters().limits_overruled == (saver == &calm ? 0 : 1));
    }
    session.close().value();
}
