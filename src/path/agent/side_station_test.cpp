// Goal: a station beside the loop delays nothing. A snapshot that comes while a script reads is skipped and counted. A
// snapshot that comes while results are written waits in its slot. Built-in analyses continue meanwhile, and an agent
// that leaves waits for the station. Method: shell scripts as worker of scripts, for an agent over staged node files.

#include "path/agent/side_station.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <thread>

#include "path/catalog/catalog.hpp"
#include "path/node/flagged.hpp"
#include "support/agent_node.hpp"
#include "support/sim_store.hpp"
#include "support/worker_script.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using agent::What;

namespace {

constexpr auto lease = node::script_lease_hold;

struct SideSite {
    explicit SideSite(const std::string& on_see) : worker(on_see) { node.session.agent.program = worker.program(); }
    ~SideSite() { leave(); }

    void seal(std::int64_t step, bool with_built_in = false) {
        StreamOptions options{.slots = 2, .keep = keep};
        options.insitu = {{.name = "look",
                           .kind = Analysis::Kind::script,
                           .script = "look.py",
                           .python = worker.program(),
                           .time_limit = time_limit}};
        if (with_built_in) options.insitu.push_back(test::every(1));
        node.seal({.id = static_cast<std::uint64_t>(step),
                   .step = step,
                   .stream = "restart",
                   .lineage = {.lines = {{.line = line}}}},
                  options, sys::unix_ns(), static_cast<std::size_t>(step % 2));
        node::ring(node.page().bell);
    }
    void begin() {
        agent = std::jthread([this] {
            const auto stations = [this](agent::Slots& slots) {
                const auto station_of = [&](const agent::Analysts& analysts) {
                    return std::make_unique<agent::InsituStation>(slots, node.staging.directory(), node.session.agent,
                                                                  hear(), agent::InsituPace{.look = 1ms}, analysts);
                };
                std::vector<std::unique_ptr<agent::Station>> all;
                all.push_back(std::make_unique<agent::SideStation>(slots, station_of(agent::scripts)));
                all.push_back(station_of(agent::built_in));
                return all;
            };
            agent::Agent(disk, node.staging, node.session, {}, hear(), stations).run(stop, 0s);
        });
    }
    void leave() {
        node.page().ending = 1;
        node::ring(node.page().bell);
        if (agent.joinable()) agent.join();
    }
    agent::Tell hear() {
        return [this](const agent::Event& event) {
            const std::lock_guard lock(mutex);
            log += agent::line_of(event) + "\n";
        };
    }
    bool says(const std::string& words) {
        return test::soon([&] {
            const std::lock_guard lock(mutex);
            return log.find(words) != std::string::npos;
        });
    }
    bool commits(std::uint64_t count) {
        return test::soon([&] { return node.page().counts.commits == count; });
    }
    node::SlotControl& slot(std::size_t number) { return node.page().slots[node.staging.slots_of(0).at(number)]; }
    std::uint64_t missed() { return node.stream("restart").counts.scripts_missed.load(); }

    int keep = 0;
    std::chrono::milliseconds time_limit{60'000};
    format::Line line{.session = 3};
    test::WorkerScript worker;
    test::SimStore disk{"run"};
    test::Node node;
    std::mutex mutex;  // guards `log`
    std::string log;
    std::atomic<bool> stop{false};
    std::jthread agent;
};

const std::string script = "echo calls 0; echo returned; echo seen; echo made 1";

}  // namespace

TEST_CASE("a snapshot that comes while a script reads another one is skipped; the built-in analyses see it") {
    SideSite site(
        "case $kind in scripts) [ $step = 2 ] && { echo calls 0; wait_for go; echo returned; }; esac; echo seen; "
        "echo made 1");
    site.seal(2, true);
    site.begin();
    REQUIRE(site.says("step 2 of stream 'restart' is analysed: 1 result"));
    site.seal(3, true);
    CHECK(site.says("step 3 of stream 'restart' is analysed: 1 result"));
    CHECK(site.says("step 3 of stream 'restart' is not analysed by its scripts: its scripts are at work on step 2 of"));
    CHECK(site.slot(0).holds == lease);
    CHECK(test::soon([&] { return site.slot(1).holds == 0; }));
    CHECK(site.missed() == 1);
    site.worker.give("go");
    CHECK(site.says("step 2 of stream 'restart' is analysed by its scripts: 1 result"));
    CHECK(test::soon([&] { return site.slot(0).holds == 0; }));
    CHECK(site.missed() == 1);
}

TEST_CASE("what scripts raise is told, and is on the page with the line of its save, also when a save has the slot") {
    SideSite site(
        "echo calls 0; echo returned; echo seen; wait_for go; echo 'raise mark,stop -nan look: odd'; "
        "echo 'failed analysis look: ValueError'");
    site.line.turn = 2;
    site.seal(2);
    site.begin();
    REQUIRE(site.commits(1));
    REQUIRE(test::soon([&] { return site.slot(0).holds == 0; }));
    CHECK(site.node.stream("restart").in_scripts == 2);  // for retention
    site.line.turn = 5;
    site.seal(4);
    REQUIRE(site.commits(2));
    site.worker.give("go");
    CHECK(site.says("step 2 of stream 'restart' fulfils a condition: look: odd, mark, stop\n"));
    CHECK(site.says("step 4 of stream 'restart' fulfils a condition: look: odd, mark, stop\n"));
    const auto flagged = node::take_flagged(site.node.page());
    REQUIRE(flagged.size() == 2);
    for (const auto& [at, step, turn] : {std::tuple(0, 2, 2), std::tuple(1, 4, 5)}) {
        const auto& condition = flagged[static_cast<std::size_t>(at)];
        CHECK(condition.step == step);
        CHECK(condition.snapshot_id == static_cast<std::uint64_t>(step));
        CHECK(condition.line == format::Line{3, static_cast<std::uint32_t>(turn)});
        CHECK(condition.text == "look: odd");
        CHECK(std::isnan(condition.value));
    }
    CHECK(test::soon([&] { return site.missed() == 2; }));
    CHECK(test::soon([&] { return site.node.stream("restart").in_scripts == 0; }));
}

TEST_CASE("retention counts no snapshot that a script looks at, though saves have its slot since") {
    SideSite site("echo calls 0; echo returned; echo seen; [ $step != 4 ] || wait_for go; echo made 1");
    site.keep = 1;
    site.begin();
    const auto is_there = [&](std::int64_t step) {
        return site.disk.exists("run/restart/" + catalog::step_name(step)).value();
    };
    for (const std::int64_t step : {1, 2}) {
        site.seal(step);
        REQUIRE(site.says(fmt::format("step {} of stream 'restart' is analysed by its scripts", step)));
    }
    site.seal(4);
    REQUIRE(test::soon([&] { return site.commits(3) && site.slot(0).holds == 0; }));
    for (const std::int64_t step : {5, 6}) {  // these two may wait in the slots
        site.seal(step);
        REQUIRE(site.commits(static_cast<std::uint64_t>(step) - 1));
    }
    REQUIRE(test::soon([&] { return !is_there(1); }));
    CHECK(is_there(2));
    site.worker.give("go");
    REQUIRE(site.says("step 4 of stream 'restart' is analysed by its scripts"));
    site.seal(7);
    REQUIRE(site.commits(6));
    CHECK(test::soon([&] { return !is_there(2); }));
}

TEST_CASE("a script that raises without end is ended, and costs its snapshot alone") {
    SideSite site("[ $step = 2 ] && { echo calls 0; echo returned; echo seen; yes 'raise tell 1 look: x'; }; " +
                  script);
    site.seal(2);
    site.begin();
    CHECK(site.says("sent more than 65536 lines about it"));
    CHECK(site.says("the application does not see it: it has not fetched the earlier conditions"));
    REQUIRE(test::soon([&] { return site.slot(0).holds == 0; }));
    CHECK(node::take_flagged(site.node.page()).size() == node::flagged_max);
    site.seal(3);
    CHECK(site.says("step 3 of stream 'restart' is analysed by its scripts"));
    CHECK(site.commits(2));
    CHECK(site.missed() == 1);
}

TEST_CASE("a snapshot that comes while results are written waits in its slot, and the agent waits for both") {
    SideSite site("echo calls 0; echo returned; echo seen; [ $step = 3 ] || wait_for go; echo made 1");
    site.seal(2);
    site.begin();
    REQUIRE(site.worker.was_asked(1));
    REQUIRE(test::soon([&] { return site.slot(0).holds == 0; }));
    site.seal(3);
    REQUIRE(site.commits(2));
    REQUIRE(test::soon([&] { return site.slot(1).holds == lease; }));
    site.node.page().ending = 1;
    node::ring(site.node.page().bell);
    std::this_thread::sleep_for(50ms);
    CHECK(site.slot(1).holds == lease);
    site.worker.give("go");
    site.leave();
    CHECK(site.log.find("step 2 of stream 'restart' is analysed by its scripts") != std::string::npos);
    CHECK(site.log.find("step 3 of stream 'restart' is analysed by its scripts") != std::string::npos);
    CHECK(site.missed() == 0);
}

TEST_CASE("a call that does not return is killed at its time limit; what no worker of scripts says ends it") {
    struct Case {
        const char* on_see;
        const char* problem;
    };
    for (const auto& [on_see, problem] :
         {Case{"echo calls 0; wait_for never", "analysis 'look' did not return within its time_limit of 0.2 s and was"},
          Case{"echo calls 1", "'calls' of no script, or in a call"}, Case{"echo calls 0; echo calls 0", "in a call"},
          Case{"echo returned", "'returned' outside a call"}}) {
        CAPTURE(on_see);
        SideSite site(fmt::format("if [ $step = 2 ]; then {}; else {}; fi", on_see, script));
        site.time_limit = 200ms;
        site.seal(2);
        site.begin();
        CHECK(site.says(problem));
        REQUIRE(test::soon([&] { return site.slot(0).holds == 0; }));
        site.seal(3);
        CHECK(site.says("step 3 of stream 'restart' is analysed by its scripts"));
        CHECK(site.missed() == 1);
    }
}

TEST_CASE("an agent that is told to stop leaves the lease of what is at work to the next one") {
    SideSite site("[ -e $folder/go ] || { echo calls 0; wait_for go; }; " + script);
    site.seal(2);
    site.begin();
    REQUIRE(site.worker.was_asked(1));
    site.stop = true;
    node::ring(site.node.page().bell);
    site.agent.join();
    CHECK(site.slot(0).holds == lease);
    CHECK(site.missed() == 0);
    site.worker.give("go");
    site.stop = false;
    site.begin();
    CHECK(site.says("step 2 of stream 'restart' is analysed by its scripts"));
    CHECK(test::soon([&] { return site.slot(0).holds == 0; }));
}
