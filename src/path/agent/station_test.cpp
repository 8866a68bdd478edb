// Goal: a slot is free when no station needs it. Stations run in their order, after the drain, and slots sealed
// meanwhile go first. A failing station costs only itself. The next agent runs the stations that a killed agent left,
// even in a later session. Method: the test's own stations behind the agent over staged node files, and an application
// that wants a held slot.

#include "path/agent/station.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/base/try.hpp"
#include "core/comm/group.hpp"
#include "path/node/await.hpp"
#include "support/agent_node.hpp"
#include "support/crashes.hpp"
#include "support/sessions.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"
#include "support/staging_of.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::Node;
using test::SimStore;

namespace {

/// Notes each visit: "NAME STREAM@STEP".
class Watcher final : public agent::Station {
public:
    struct Notes {
        std::vector<std::string> seen;
        std::string stream = "restart";  // the stream that it wants
        std::function<Result<>(move::Gate&)> work = [](move::Gate&) { return Result<>(); };
    };
    Watcher(const char* name, std::uint32_t hold, agent::Slots& slots, Notes& notes)
        : name_(name), hold_(hold), slots_(slots), notes_(notes) {}

    const char* name() const override { return name_; }
    std::uint32_t hold() const override { return hold_; }
    bool wants(std::uint32_t slot) const override { return slots_.stream_name(slot) == notes_.stream; }
    Result<> run(std::uint32_t slot, bool, move::Gate& gate, const std::atomic<bool>&) override {
        FB_TRY_ASSIGN(peeked, slots_.peek(slot));
        notes_.seen.push_back(fmt::format("{} {}@{}", name_, slots_.stream_name(slot), peeked.record.step));
        return notes_.work(gate);
    }

private:
    const char* const name_;
    const std::uint32_t hold_;
    agent::Slots& slots_;
    Notes& notes_;
};

constexpr std::uint32_t first_bit = 1, second_bit = 2;

agent::MakeStations both(Watcher::Notes& notes) {
    return [&](agent::Slots& slots) {
        std::vector<std::unique_ptr<agent::Station>> stations;
        stations.push_back(std::make_unique<Watcher>("first", first_bit, slots, notes));
        stations.push_back(std::make_unique<Watcher>("second", second_bit, slots, notes));
        return stations;
    };
}

/// Serves the node until every sealed slot is done; false if something failed.
bool serve(Node& node, sys::Store& store, const agent::MakeStations& stations, const std::atomic<bool>& stop) {
    node.page().ending = 1;
    const auto tell = agent::to_log([&node](const std::string& line) { node.log += line + "\n"; });
    return agent::Agent(store, node.staging, node.session, {}, tell, stations).run(stop, 0s);
}
bool serve(Node& node, sys::Store& store, const agent::MakeStations& stations) {
    return serve(node, store, stations, std::atomic<bool>(false));
}

}  // namespace

TEST_CASE("stations that want a stream see its saves once, in their order, and then let go") {
    SimStore disk("run");
    Node node;
    Watcher::Notes notes;
    notes.work = [&](move::Gate&) {
        CHECK(node.page().slots[0].state == node::SlotState::committed);
        CHECK_FALSE(node::is_free(node.page().slots[0]));
        return Result<>();
    };
    node.seal({.id = 1, .step = 7});
    node.seal({.id = 2, .step = 7, .stream = "other"});
    REQUIRE_MESSAGE(serve(node, disk, both(notes)), node.log);
    CHECK(notes.seen == std::vector<std::string>{"first restart@7", "second restart@7"});
    CHECK(std::ranges::all_of(node.page().slots, node::is_free));
}

TEST_CASE("what is sealed while a station works is drained and committed before it goes on") {
    SimStore disk("run");
    Node node;
    Watcher::Notes notes;
    node.seal({.id = 1, .step = 7});
    notes.work = [&](move::Gate& gate) {
        CHECK_FALSE(gate.wanted());
        node.seal({.id = 2, .step = 8, .stream = "other"}, {.priority = -5});
        REQUIRE(gate.wanted());
        gate.pass();
        CHECK_FALSE(gate.wanted());
        CHECK(disk.exists(test::node_run + "/other/step-000008").value());
        notes.work = [](move::Gate&) { return Result<>(); };
        return Result<>();
    };
    REQUIRE_MESSAGE(serve(node, disk, both(notes)), node.log);
    CHECK(notes.seen.size() == 2);
    CHECK(node.page().counts.commits == 2);
}

TEST_CASE("a station that fails, or throws, is told; the snapshot, the next station and the slot are not touched") {
    for (const bool throws : {false, true}) {
        CAPTURE(throws);
        SimStore disk("run");
        Node node;
        Watcher::Notes notes;
        notes.work = [&](move::Gate&) -> Result<> {
            if (throws) throw std::bad_alloc();
            return Error{ErrorKind::retry, "no room"};
        };
        node.seal({.id = 1, .step = 7});
        REQUIRE_MESSAGE(serve(node, disk, both(notes)), node.log);
        CHECK(notes.seen.size() == 2);
        CHECK(node.log.find("step 7 of stream 'restart' continues without first: ") != std::string::npos);
        CHECK(node::is_free(node.page().slots[0]));
        CHECK(node.page().counts.aborts == 0);
    }
}

TEST_CASE("a save that was damaged in memory stays until its stations let go, which find the damage themselves") {
    SimStore disk("run");
    Node node;
    Watcher::Notes notes;
    auto& slot = node.page().slots[0];
    notes.work = [&](move::Gate&) -> Result<> {
        CHECK(slot.given_up.load() == 1);
        CHECK_FALSE(node::is_free(slot));
        return Error{ErrorKind::corrupt, "a block's checksum"};
    };
    node.seal({.id = 1, .step = 7}, {}, sys::unix_ns(), 0, true);
    std::atomic<bool> stop{false};
    std::jthread agent([&] {
        agent::Agent(
            disk, node.staging, node.session, {}, [](const agent::Event&) {}, both(notes))
            .run(stop, 0s);
    });
    REQUIRE(test::soon([&] { return slot.state.load() == node::SlotState::failed; }));
    CHECK_FALSE(node::await_commits(*comm::alone(), node.staging, {0}, 60s, {}, {}));  // it tries again
    CHECK(test::soon([&] { return node::is_free(slot); }));
    stop = true;
    node::ring(node.page().bell);
    agent.join();
    CHECK(notes.seen == std::vector<std::string>{"first restart@7", "second restart@7"});
}

TEST_CASE("the agent after a killed one, and after one that was stopped, runs what is left") {
    SimStore disk("run");
    Node node;
    Watcher::Notes notes;
    node.seal({.id = 1, .step = 7});
    std::atomic<bool> stop{false};
    notes.work = [&](move::Gate&) -> Result<> {
        stop = notes.seen.size() == 2;
        return stop ? Result<>(Error{ErrorKind::retry, "stopped on request"}) : Result<>();
    };
    CHECK_FALSE(serve(node, disk, both(notes), stop));
    CHECK(node.page().slots[0].holds == second_bit);
    CHECK_FALSE(node::is_free(node.page().slots[0]));

    stop = false;
    REQUIRE_MESSAGE(serve(node, disk, both(notes), stop), node.log);
    CHECK(notes.seen == std::vector<std::string>{"first restart@7", "second restart@7", "second restart@7"});
    CHECK(node.page().counts.commits == 1);
    CHECK(node::is_free(node.page().slots[0]));
}

TEST_CASE("a later session goes on with what is held; an agent without the station lets it go") {
    SimStore disk("run");
    Node node;
    Watcher::Notes notes;
    node.seal({.id = 1, .step = 7});
    REQUIRE_MESSAGE(serve(node, disk, both(notes)), node.log);
    for (const bool has_stations : {true, false}) {
        CAPTURE(has_stations);
        notes.seen.clear();
        node.page().slots[0].holds = second_bit;
        const auto directory = node.staging.directory();
        {
            const auto gone = std::move(node.staging);  // with its lock
        }
        node.staging =
            node::Staging::create(node::LockedDirectory::lock(directory, test::node_run).value(), node.session, 0ms)
                .value();
        REQUIRE(node.page().slots[0].holds == second_bit);
        REQUIRE(node.page().slots[0].state == node::SlotState::committed);
        REQUIRE_MESSAGE(serve(node, disk, has_stations ? both(notes) : agent::MakeStations()), node.log);
        CHECK(notes.seen == (has_stations ? std::vector<std::string>{"second restart@7"} : std::vector<std::string>()));
        CHECK(node::is_free(node.page().slots[0]));
        CHECK((node.log.find("continues without the drain that an earlier agent") == std::string::npos) ==
              has_stations);
    }
}

TEST_CASE(
    "a power cut before any operation leaves the snapshot whole or absent, and the station sees it once it is whole") {
    test::crash_worlds_at_each(
        [] {
            struct World {
                SimStore disk{"run"};
                Node node;
                Watcher::Notes notes;
            };
            auto world = std::make_unique<World>();
            world->node.seal({.id = 1, .step = 7});
            return world;
        },
        test::reboots(3), [](auto& world) { static_cast<void>(serve(world.node, world.disk, both(world.notes))); },
        [](auto& world) {
            const std::size_t seen_before = world.notes.seen.size();
            REQUIRE_MESSAGE(serve(world.node, world.disk, both(world.notes)), world.node.log);
            CHECK(world.disk.exists(test::node_run + "/restart/step-000007").value());
            CHECK((seen_before == 2) == (world.notes.seen.size() == seen_before));
            CHECK(node::is_free(world.node.page().slots[0]));
        });
}

TEST_CASE("a save gets no slot that a station holds, and gets it when the station lets go") {
    for (const bool waits : {false, true}) {
        CAPTURE(waits);
        const test::TempDirectory folder;
        auto options = test::options_in(folder, 1);
        options.agent.block_bytes = 1u << 16;
        auto session = Session::open(options).value();
        std::vector<double> data(100, 1.0), large(100'000, 1.0);
        auto stream = session.stream("restart", {.slots = 1, .policy = waits ? Policy::wait : Policy::skip}).value();
        stream.array("u", f64, {data.size()}, {packed({{0}, {data.size()}}, data.data())}).value();
        stream.save(1).value();
        stream.wait_committed(10s).value();
        auto node = node::Staging::join(test::staging_of(options)).value();
        // The agent has no station, and would release the slot. This drain keeps it busy for a second.
        auto slow = session.stream("slow", {.rate_bytes_per_second = 800'000}).value();
        slow.array("u", f64, {large.size()}, {packed({{0}, {large.size()}}, large.data())}).value();
        slow.save(1).value();
        REQUIRE(test::soon([&] { return node.control().draining.load() == 1; }));
        auto& slot = node.control().slots[0];
        slot.holds = second_bit;
        std::jthread lets_go;
        if (waits)
            lets_go = std::jthread([&] {
                std::this_thread::sleep_for(30ms);
                slot.holds = 0;
                node::ring(node.control().news);
            });
        const auto saved = stream.save(2).value();
        CHECK(saved.kept == waits);
        if (waits) CHECK(saved.wait_seconds > 0.02);
        session.close().value();
    }
}
