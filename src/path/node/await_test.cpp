// Goal: ranks that wait for commits never wait in vain: if a node's drain failed for good, the other ranks return its
// error as soon as their own node files are at the target, and not sooner; they wait for every snapshot that can be
// committed.
// Method: two nodes, each with a control page and no agent; the test acts as the agents.

#include "path/node/await.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using node::SlotState;

namespace {

constexpr auto long_time = 30s;  // much longer than the test
constexpr std::uint64_t first_save = 0xaaaa, second_save = 0xbbbb;

struct Node {
    Node() {
        staging.add_stream("restart", {.slots = 2}).value();
        staging.control().slots[0].snapshot_id = first_save;
        staging.control().slots[1].snapshot_id = second_save;
    }
    void set(std::uint32_t slot, SlotState state) {
        staging.control().slots[slot].step = slot + 1;
        staging.control().slots[slot].state = state;
        node::ring(staging.control().news);
    }
    /// Acts like an agent that tries once more when the wait begins.
    void fail_at_bell(std::uint32_t slot) {
        while (staging.control().bell.load() == 0) std::this_thread::sleep_for(1ms);
        auto& control = staging.control().slots[slot];
        control.error_kind = static_cast<std::uint32_t>(ErrorKind::refused);
        node::set_error(control.error_text, {ErrorKind::refused, "step 1 is NOT committed: no permission",
                                             "the staged copy on node1", "forebay drain /dev/shm/x on node1"});
        control.failures.fetch_add(1);
        set(slot, SlotState::failed);
    }
    Result<> wait(comm::Group& world, std::chrono::milliseconds at_most = long_time) {
        return node::await_commits(world, staging, {0, 1}, at_most, nullptr, {});
    }

    test::TempDirectory folder;
    node::Staging staging =
        node::Staging::create(node::LockedDirectory::lock(folder / "staging", "/run").value(),
                              {.run = "/run", .host = "here", .process = 1}, std::chrono::milliseconds(0))
            .value();
};

void on_two_nodes(const std::function<void(Node&, comm::Group&)>& first,
                  const std::function<void(Node&, comm::Group&)>& second) {
    test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
        Node here;
        world->rank() == 0 ? first(here, *world) : second(here, *world);
    });
}

void check_says_why(const Result<>& waited) {
    REQUIRE_FALSE(waited);
    CHECK(waited.error().kind == ErrorKind::refused);
    for (const char* words : {"no permission", "the staged copy on node1", "forebay drain /dev/shm/x on node1"})
        CHECK_MESSAGE(waited.error().text().find(words) != std::string::npos, waited.error().text());
}

}  // namespace

TEST_CASE("a node that has failed for good ends the wait of the others, with its error") {
    on_two_nodes(
        [](Node& here, comm::Group& world) {
            here.set(0, SlotState::drained);
            check_says_why(here.wait(world));
            CHECK(here.staging.control().slots[0].state == SlotState::drained);
        },
        [](Node& here, comm::Group& world) {
            here.set(0, SlotState::draining);
            const std::jthread agent([&] { here.fail_at_bell(0); });
            check_says_why(here.wait(world));
        });
}

TEST_CASE("before they end, the others bring their own node files to the target, and commit what can be") {
    std::atomic<bool> is_drained{false}, is_committed{false};
    on_two_nodes(
        [&](Node& here, comm::Group& world) {
            here.set(0, SlotState::draining);
            here.set(1, SlotState::drained);
            const std::jthread agent([&] {
                std::this_thread::sleep_for(300ms);  // the other node has failed by then
                is_drained = true;
                here.set(0, SlotState::drained);
                std::this_thread::sleep_for(300ms);
                is_committed = true;
                here.set(1, SlotState::committed);
            });
            check_says_why(here.wait(world));
            CHECK(is_drained);
            CHECK(is_committed);
        },
        [&](Node& here, comm::Group& world) {
            here.set(0, SlotState::draining);
            here.set(1, SlotState::committed);
            const std::jthread agent([&] { here.fail_at_bell(0); });
            check_says_why(here.wait(world));
            CHECK(is_committed);
        });
}

TEST_CASE("a node without an agent, of which all is lost, ends the wait too") {
    struct NoHost final : node::Host {
        Result<> ensure() override {
            return Error{ErrorKind::refused, "no permission", "the staged copy on node1",
                         "forebay drain /dev/shm/x on node1"};
        }
        void end(std::chrono::seconds) override {}
    };
    on_two_nodes(
        [](Node& here, comm::Group& world) {
            here.set(0, SlotState::drained);
            check_says_why(here.wait(world));
        },
        [](Node& here, comm::Group& world) {
            NoHost host;
            here.set(0, SlotState::sealed);
            check_says_why(node::await_commits(world, here.staging, {0, 1}, long_time, &host, {}));
        });
}

TEST_CASE("what an earlier session left and has failed is tried once more, and a copy that looks damaged twice") {
    for (const auto kind : {ErrorKind::refused, ErrorKind::corrupt}) {
        CAPTURE(name_of(kind));
        test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
            const auto topology = comm::find_topology(std::move(world), 2).value();
            Node here;
            auto& page = here.staging.control();
            const auto fail = [&] {
                page.slots[0].error_kind = static_cast<std::uint32_t>(kind);
                page.slots[0].failures.fetch_add(1);
                here.set(0, SlotState::failed);
            };
            page.slots[0].inherited = 1;
            fail();
            const std::uint32_t tries = topology.world->rank() == 0 ? 0 : kind == ErrorKind::corrupt ? 2 : 1;
            if (tries == 0) here.set(0, SlotState::empty);
            const std::jthread agent([&] {
                for (std::uint32_t i = 0; i < tries; ++i) {
                    while (page.bell.load() == i) std::this_thread::sleep_for(1ms);
                    fail();
                }
            });
            node::await_inherited(topology, here.staging, long_time, nullptr, {}).value();
            CHECK(page.bell == tries);
            CHECK(page.slots[0].failures == tries + 1);
        });
    }
}
