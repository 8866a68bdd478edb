// Goal: a target may hang in the kernel, which no signal ends. It delays saves and the end of the application no longer
// than configured. Errors have the staged copies, which stay and are committed when the target is back.
// Method: an ext4 file system, frozen and thawed; threads as ranks. Needs root and loop devices, else it is skipped.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <thread>

#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "path/agent/leftovers.hpp"
#include "support/own_mounts.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 2;
// The waits configured below end within a second, but the machine may be busy.
constexpr auto soon = 20s;

struct Place {
    Place() : disk(test::FreezableDisk::make(folder / "target", "32M")) {
        REQUIRE(disk);
        std::filesystem::create_directory(folder / "node");
    }
    ~Place() { disk->thaw(); }
    Options options(AgentMode mode) const {
        Options options{.run = folder / "target/run", .staging = folder / "node"};
        options.agent.mode = mode;
        options.open_wait = 500ms;
        options.stall_wait = 500ms;
        options.close_wait = 60s;
        return options;
    }
    std::vector<std::int64_t> committed() const { return test::committed_steps(folder / "target/run"); }
    std::vector<std::string> staged() const { return node::staging_directories(folder / "node").value(); }

    test::TempDirectory folder;
    std::unique_ptr<test::FreezableDisk> disk;
};

using Rank = test::RowRank;

void commit_first(Rank& here) {
    here.save(1).value();
    here.stream.wait_committed(60s).value();
}

bool within(std::chrono::nanoseconds limit, const std::function<void()>& act) {
    const auto start = sys::Clock::now();
    act();
    return sys::Clock::now() - start < limit;
}

}  // namespace

TEST_CASE("hung while a step drains: saves are skipped, close() ends in time, and the step is committed later") {
    for (const auto mode : {AgentMode::process, AgentMode::thread}) {
        Place place;
        auto options = place.options(mode);
        options.close_wait = 500ms;
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.policy = Policy::skip, .keep = 0});
            commit_first(here);
            here.once([&] { place.disk->freeze(); });
            CHECK(within(soon, [&] { CHECK(here.save(2).value().kept); }));
            CHECK(within(soon, [&] { CHECK_FALSE(here.save(3).value().kept); }));
            CHECK(within(soon, [&] {
                const auto closed = here.session.close();
                REQUIRE_FALSE(closed);
                CHECK(closed.error().kind == ErrorKind::retry);
                CHECK_MESSAGE(closed.error().text().find("step 2 is ") != std::string::npos, closed.error().text());
                CHECK_MESSAGE(closed.error().text().find(place.staged().at(0)) != std::string::npos,
                              closed.error().text());
            }));
        });
        const auto directory = place.staged().at(0);
        CHECK(sys::lock_is_held(node::agent_lock_path(directory)));
        place.disk->thaw();
        while (sys::lock_is_held(node::agent_lock_path(directory))) std::this_thread::sleep_for(1ms);
        // An agent process has committed it by now and freed the directory. An agent thread had to leave it, and the
        // command finishes it.
        CHECK(std::filesystem::exists(directory) == (mode == AgentMode::thread));
        if (mode == AgentMode::thread)
            for (const auto& drained : agent::drain_leftover(directory, {}, {.remove = true}).value())
                CHECK(drained.committed);
        CHECK(place.committed() == std::vector<std::int64_t>{2, 1});
        CHECK(place.staged().empty());
    }
}

TEST_CASE("hung while a save waits for its slot: the save ends with an error on every rank, a later one goes on") {
    Place place;
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        Rank here(std::move(world), place.options(AgentMode::process));
        commit_first(here);
        here.once([&] { place.disk->freeze(); });
        CHECK(here.save(2).value().kept);
        CHECK(within(soon, [&] {
            const auto stalled = here.save(3);
            REQUIRE_FALSE(stalled);
            CHECK(stalled.error().kind == ErrorKind::retry);
            CHECK_MESSAGE(stalled.error().text().find("made no progress for 0.5 s") != std::string::npos,
                          stalled.error().text());
        }));
        here.once([&] { place.disk->thaw(); });
        while (!here.save(3)) {
        }
        here.session.close().value();
    });
    CHECK(place.committed() == std::vector<std::int64_t>{3, 2, 1});
    CHECK(place.staged().empty());
}

TEST_CASE("hung at the start: opening ends with an error on every rank") {
    Place place;
    place.disk->freeze();
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        CHECK(within(soon, [&] {
            const auto opened =
                detail::open_over(std::make_unique<GroupHolder>(std::move(world)), place.options(AgentMode::process));
            REQUIRE_FALSE(opened);
            CHECK(opened.error().kind == ErrorKind::retry);
            CHECK_MESSAGE(opened.error().text().find("did not answer") != std::string::npos, opened.error().text());
        }));
    });
    CHECK(place.staged().empty());
}

int main(int argc, char** argv) {
    if (!test::enter_own_mounts() || [] {
            const test::TempDirectory folder;
            return test::FreezableDisk::make(folder / "disk", "8M") == nullptr;
        }()) {
        std::puts("skipped: needs root, loop devices and mkfs.ext4");
        return 77;
    }
    return doctest::Context(argc, argv).run();
}
