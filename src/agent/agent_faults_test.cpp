// Goal: what an agent does with saves that were damaged in memory, and after its session has lost the run. Method:
// staged node files under a real control page, the simulated disk as target.

#include <doctest/doctest.h>

#include <thread>

#include "catalog/claim.hpp"
#include "comm/group.hpp"
#include "node/await.hpp"
#include "support/agent_node.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"
#include "sys/clock.hpp"

using namespace forebay;
using namespace std::chrono_literals;

TEST_CASE("each save that is damaged in memory is told once as failed, and who waits hears of it until the next one") {
    test::SimStore disk("run");
    test::Node node;
    std::atomic<bool> stop{false};
    std::jthread agent(
        [&] { agent::Agent(disk, node.staging, node.session, {}, [](const agent::Event&) {}).run(stop, 0s); });
    std::uint32_t told = 0;
    for (const std::uint64_t id : {1u, 2u}) {
        CAPTURE(id);
        node.seal({.id = id, .step = static_cast<std::int64_t>(id)}, {}, sys::unix_ns(), 0, true);
        auto& slot = node.page().slots[0];
        REQUIRE(test::soon([&] { return slot.state.load() == node::SlotState::failed; }, 60s));
        CHECK(slot.failures.load() == ++told);
        const auto waited = node::await_commits(*comm::alone(), node.staging, {0}, 60s, {}, {});  // it tries again
        REQUIRE_FALSE(waited);
        CHECK(waited.error().kind == ErrorKind::corrupt);
        CHECK(slot.state.load() == node::SlotState::empty);
        CHECK_FALSE(node::await_commits(*comm::alone(), node.staging, {0}, 60s, {}, {}));
    }
    stop = true;
    node::ring(node.page().bell);
}

TEST_CASE("an agent whose session has lost its run commits what it has, and removes nothing") {
    test::SimStore disk("run/forebay");
    const catalog::Claimant claimant{
        .host = "nid2", .user = "me", .boot = "", .lock_path = "", .lock_id = "", .process = 7};
    const auto sessions = {1u, 2u};
    for (const auto session : sessions) REQUIRE(catalog::claim(disk, test::node_run, claimant, {}).value() == session);
    for (const auto session : sessions) {
        CAPTURE(session);
        test::Node node;
        node.page().session = session;
        for (const std::int64_t step : {10, 20}) {
            const auto id = static_cast<std::uint64_t>(100 * session + step);
            node.seal({.id = id, .step = 10 * session + step}, {.keep = 1});
            REQUIRE_MESSAGE(node.drain(disk), node.log);
        }
        CHECK(catalog::snapshots(disk, test::node_run, "restart").value().size() == (session == 1 ? 2 : 1));
    }
}
