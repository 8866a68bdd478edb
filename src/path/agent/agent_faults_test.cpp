// Goal: the agent handles saves that were damaged in memory, the time after its session lost the run, and commits by
// another client that it does not see yet. Method: staged node files under a real control page, the simulated disk as
// target.

#include <doctest/doctest.h>

#include <thread>

#include "core/base/limits.hpp"
#include "core/comm/group.hpp"
#include "core/sys/clock.hpp"
#include "path/agent/committer.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/node/await.hpp"
#include "support/agent_node.hpp"
#include "support/committed_run.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

/// A client of a network file system. When its agent's node file has its name, another client delivers the second file
/// and commits. For a while this client sees neither the old name nor the new name.
class LateStore final : public test::PassingStore {
public:
    LateStore(sys::Store& disk, const test::SmallSnapshot& snapshot, std::chrono::milliseconds late)
        : PassingStore(disk), disk_(disk), snapshot_(snapshot), late_(late) {}

    Result<> rename(const std::string& from, const std::string& to) override {
        auto renamed = PassingStore::rename(from, to);
        if (!to.ends_with("node-00000.h5")) return renamed;
        REQUIRE(test::drain_node(disk_, test::node_run, snapshot_, 1));
        REQUIRE(test::commit(disk_, test::node_run, snapshot_).value() == commit::Commit::committed);
        seen_ = sys::Clock::now() + late_;
        return renamed;
    }
    Result<bool> exists(const std::string& path) override {
        return hides(path) ? Result<bool>(false) : PassingStore::exists(path);
    }
    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        if (hides(path)) return Error{ErrorKind::missing, path + " is not there"};
        return PassingStore::open(path, access);
    }
    Result<std::vector<sys::Entry>> list(const std::string& path) override {
        auto entries = PassingStore::list(path);
        if (entries) std::erase_if(*entries, [&](const sys::Entry& entry) { return hides(path + "/" + entry.name); });
        return entries;
    }

private:
    bool hides(const std::string& path) const {
        return sys::Clock::now() < seen_ && path.starts_with(test::step_directory(test::node_run, snapshot_));
    }
    sys::Store& disk_;
    const test::SmallSnapshot snapshot_;
    const std::chrono::milliseconds late_;
    sys::Clock::time_point seen_{};
};

}  // namespace

TEST_CASE("a step that another client has committed is not lost because this one does not see it yet") {
    const test::SmallSnapshot snapshot{.id = 7, .step = 29, .nodes = 2};
    test::SimStore disk("run");
    LateStore late(disk, snapshot, 500ms);
    test::Node node;
    node.seal(snapshot);
    REQUIRE_MESSAGE(node.drain(late), node.log);
    CHECK(node.log.find("NOT committed") == std::string::npos);
    CHECK(node.log.find("is committed by another agent") != std::string::npos);
    CHECK(node.page().slots[0].state.load() == node::SlotState::committed);
    CHECK(node.page().slots[0].failures.load() == 0);
}

TEST_CASE("a step that somebody has removed is drained anew, also beside a snapshot that is damaged for good") {
    const test::SmallSnapshot damaged{.id = 6, .step = 19}, snapshot{.id = 7, .step = 29, .nodes = 2};
    test::SimStore disk("run");
    REQUIRE(test::commit_all(disk, test::node_run, damaged));
    const auto manifest = test::step_directory(test::node_run, damaged) + "/" + catalog::manifest_name;
    REQUIRE(sys::write_text_durable(disk, manifest, "{"));
    test::Node node;
    node.seal(snapshot);
    const auto& slot = node.page().slots[0];
    REQUIRE_FALSE(node.drain(disk));  // the other node has not come
    REQUIRE(slot.state.load() == node::SlotState::drained);
    REQUIRE(disk.remove_tree(test::part_directory(test::node_run, snapshot)));

    agent::Schedule schedule(node.page());
    const agent::Tell tell = [](const agent::Event&) {};
    agent::Slots slots(disk, node.staging, node.session, schedule, tell);
    REQUIRE(slots.map(0));
    agent::Committer committer(disk, node.session, schedule, slots, {}, tell);
    CHECK_FALSE(committer.commit(0));  // it may become visible in a moment
    auto& since = slots.notes(0).absent_since;
    REQUIRE(since);
    *since -= limits::names_stay_max;
    CHECK(committer.commit(0));
    CHECK(slot.state.load() == node::SlotState::failed);
    const auto what = node::error_in(slot.error_kind, slot.error_text).what;
    CHECK_MESSAGE(what.find(manifest) != std::string::npos, what);

    REQUIRE(test::drain_node(disk, test::node_run, snapshot, 1));
    REQUIRE_MESSAGE(node.drain(disk), node.log);
    CHECK(test::is_whole(disk, test::node_run, snapshot));
}

TEST_CASE("each save that is damaged in memory is told once as failed, and who waits hears of it until the next one") {
    test::SimStore disk("run");
    test::Node node;
    std::atomic<bool> stop{false};
    std::jthread agent(
        [&] { agent::Agent(disk, node.staging, node.session, {}, [](const agent::Event&) {}).run(stop, 0s); });
    std::uint32_t count = 0;
    for (const std::uint64_t id : {1u, 2u}) {
        CAPTURE(id);
        node.seal({.id = id, .step = static_cast<std::int64_t>(id)}, {}, sys::unix_ns(), 0, true);
        auto& slot = node.page().slots[0];
        REQUIRE(test::soon([&] { return slot.state.load() == node::SlotState::failed; }));
        CHECK(slot.failures.load() == ++count);
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
    const catalog::RunLockOwner lock_owner{
        .host = "nid2", .user = "me", .boot = "", .lock_path = "", .lock_id = "", .process = 7};
    const auto sessions = {1u, 2u};
    for (const auto session : sessions)
        REQUIRE(catalog::claim(disk, test::node_run, lock_owner, {}).value() == session);
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
