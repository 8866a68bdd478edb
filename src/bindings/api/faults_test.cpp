// Goal: a full node and a full or broken target never end or hang the application. The error appears at the next call
// of every rank, with the place of the staged copy. When there is space again, the staged snapshots are committed.
// Method: small tmpfs mounts as staging and as target, filled and emptied; threads as ranks.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "path/agent/leftovers.hpp"
#include "support/own_mounts.hpp"
#include "support/row_rank.hpp"
#include "support/staging_of.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Place {
    Place() : target(folder / "target", "4m"), node(folder / "node", "16m") {}
    std::string run() const { return target / "run"; }
    Options options(int nodes) const {
        Options options{.run = run(), .staging = node.path()};
        options.virtual_nodes = nodes;
        options.agent.mode = AgentMode::thread;
        options.agent.retries = 1;
        options.agent.retry_pause = 1ms;
        options.close_wait = 60s;
        options.restart_window_bytes = 4u << 20;
        return options;
    }
    std::vector<std::int64_t> committed() const { return test::committed_steps(run()); }
    std::vector<std::string> staged() const { return node::staging_directories(node.path()).value(); }

    test::TempDirectory folder;
    test::SmallTmpfs target, node;
};

using Rank = test::RowRank;

void with_ranks(const Place& place, int nodes, const std::function<void(Rank&)>& body) {
    test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
        Rank here(std::move(world), place.options(nodes));
        body(here);
    });
}

// Checks that the path after "staged copy on HOST, " in the text exists.
void check_names_staged_copy(const std::string& text) {
    const auto at = text.find("the staged copy on ");
    REQUIRE_MESSAGE(at != std::string::npos, text);
    const auto begin = text.find(", ", at) + 2;
    const auto path = text.substr(begin, text.find(".h5", begin) + 3 - begin);
    CHECK_MESSAGE(fs::exists(path), path);
    CHECK_MESSAGE(text.find("forebay drain") != std::string::npos, text);
}

}  // namespace

TEST_CASE("a full staging mount: every rank gets `full`, and saves when there is room") {
    for (const int nodes : {1, 2}) {
        const Place place;
        with_ranks(place, nodes, [&](Rank& here) {
            here.once([&] { place.node.fill(64u << 10); });
            for (int attempt = 0; attempt < 2; ++attempt) {
                const auto saved = here.save(1);
                REQUIRE_FALSE(saved);
                CHECK(saved.error().kind == ErrorKind::full);
                CHECK_MESSAGE(saved.error().text().find("restart.0.h5") != std::string::npos, saved.error().text());
            }
            CHECK(here.stream.prepare().error().kind == ErrorKind::full);
            here.once([&] { place.node.empty(); });
            CHECK(here.save(2).value().kept);
            CHECK(here.stream.counters().saves == 1);
            here.session.close().value();
        });
        CHECK(place.committed() == std::vector<std::int64_t>{2});
    }
}

TEST_CASE("a full target: the next save says so and names the staged copy; with room the saves go on") {
    for (const int nodes : {1, 2}) {
        const Place place;
        with_ranks(place, nodes, [&](Rank& here) {
            here.once([&] { place.target.fill(64u << 10); });
            CHECK(here.save(1).value().kept);
            const auto second = here.save(2);
            REQUIRE_FALSE(second);
            CHECK(second.error().kind == ErrorKind::full);
            CHECK_MESSAGE(
                second.error().text().find("step 1 of stream 'restart' is NOT committed") != std::string::npos,
                second.error().text());
            check_names_staged_copy(second.error().text());
            CHECK(here.stream.counters().aborts >= (nodes == 1 || here.world->rank() == 0 ? 1u : 0u));
            here.once([&] { place.target.empty(); });
            // One more error may have been on its way. The staged snapshot is committed all the same.
            here.stream.wait_committed(60s).value();
            CHECK(here.stream.counters().newest_durable_step == 1);
            CHECK(here.save(3).value().kept);
            here.session.close().value();
        });
        CHECK(place.committed() == std::vector<std::int64_t>{3, 1});
    }
}

TEST_CASE("a full target and an application that only saves: it goes on by itself soon after there is room") {
    const Place place;
    with_ranks(place, 2, [&](Rank& here) {
        here.once([&] { place.target.fill(64u << 10); });
        CHECK(here.save(1).value().kept);
        CHECK_FALSE(here.save(2));
        here.once([&] { place.target.empty(); });
        int refused = 0;
        while (!here.save(3)) ++refused;
        CHECK(refused <= 2);
        here.session.close().value();
    });
    CHECK(place.committed() == std::vector<std::int64_t>{3, 1});
}

TEST_CASE("a target that is gone: nothing takes its place, neither a file nor another directory, until it is back") {
    const Place place;
    with_ranks(place, 2, [&](Rank& here) {
        here.once([&] {
            fs::rename(place.run(), place.run() + ".away");
            std::ofstream(place.run()) << "in the way";
        });
        CHECK(here.save(1).value().kept);
        const auto waited = here.stream.wait_committed(60s);
        REQUIRE_FALSE(waited);
        check_names_staged_copy(waited.error().text());
        here.once([&] {
            fs::remove(place.run());
            fs::create_directory(place.run());
        });
        const auto other = here.stream.wait_committed(60s);
        REQUIRE_FALSE(other);
        check_names_staged_copy(other.error().text());
        here.once([&] {
            CHECK(fs::is_empty(place.run()));
            fs::remove(place.run());
        });
        const auto none = here.stream.wait_committed(60s);
        REQUIRE_FALSE(none);
        check_names_staged_copy(none.error().text());
        here.once([&] {
            CHECK_FALSE(fs::exists(place.run()));
            fs::rename(place.run() + ".away", place.run());
        });
        here.stream.wait_committed(60s).value();
        here.session.close().value();
    });
    CHECK(place.committed() == std::vector<std::int64_t>{1});
}

TEST_CASE("close() says what could not be committed; forebay drain finishes it when there is room") {
    const Place place;
    with_ranks(place, 2, [&](Rank& here) {
        CHECK(here.save(1).value().kept);
        here.stream.wait_committed(60s).value();
        here.once([&] { place.target.fill(64u << 10); });
        CHECK(here.save(2).value().kept);
        const auto closed = here.session.close();
        REQUIRE_FALSE(closed);
        CHECK(closed.error().kind == ErrorKind::full);
        check_names_staged_copy(closed.error().text());
        CHECK_FALSE(here.save(3));
    });
    CHECK(place.committed() == std::vector<std::int64_t>{1});
    const auto staged = place.staged();
    REQUIRE(!staged.empty());
    for (const auto& directory : staged) {
        const auto left = agent::drain_leftover(directory, {}, {.remove = true}).value();
        for (const auto& drained : left) CHECK_FALSE(drained.committed);
    }
    REQUIRE(place.staged().size() == staged.size());
    place.target.empty();
    // The nodes' directories in any order: the first misses the node files of the other nodes, the last commits.
    std::size_t finished = 0;
    for (const auto& directory : staged)
        for (const auto& drained : agent::drain_leftover(directory, {}, {.remove = true}).value())
            finished += drained.committed ? 1 : 0;
    CHECK(finished >= 1);
    CHECK(place.committed() == std::vector<std::int64_t>{2, 1});
    for (const auto& directory : place.staged()) agent::drain_leftover(directory, {}, {.remove = true}).value();
    CHECK(place.staged().empty());
}

TEST_CASE("a save whole in the memory of nodes that cannot be committed now: no restart goes back over it on its own") {
    const auto check_stops = [](const Result<std::optional<Restart>>& restart) {
        REQUIRE_FALSE(restart);
        CHECK(restart.error().kind == ErrorKind::full);
        for (const char* words : {"step 2 of stream 'restart' of ", "FOREBAY_RESTART=1 ", "FOREBAY_RESTART=none "})
            CHECK_MESSAGE(restart.error().text().find(words) != std::string::npos, restart.error().text());
    };
    for (const int nodes : {1, 2, 3}) {
        CAPTURE(nodes);
        const Place place;
        with_ranks(place, nodes == 1 ? 2 : nodes, [&](Rank& here) {
            CHECK(here.save(1).value().kept);
            here.stream.wait_committed(60s).value();
            here.once([&] { place.target.fill(64u << 10); });
            CHECK(here.save(2).value().kept);
            CHECK_FALSE(here.session.close());
        });
        with_ranks(place, nodes, [&](Rank& here) {
            check_stops(here.stream.newest());
            CHECK_FALSE(here.save(3));  // it begins nothing anew over the snapshot
            CHECK(here.restore(2) == 1);
            check_stops(here.stream.restore());
            here.once([&] { place.target.empty(); });
            // A session that opens drains the leftovers of another virtual node.
            if (nodes > 1) CHECK(here.restore() == 2);
            here.session.close().value();
        });
        with_ranks(place, nodes, [&](Rank& here) {
            CHECK(here.restore() == 2);
            here.session.close().value();
        });
        CHECK(place.committed() == std::vector<std::int64_t>{2, 1});
    }
}

TEST_CASE("a save that a lost node has taken with it is none: the restart goes back") {
    for (const int nodes : {1, 2}) {
        const Place place;
        with_ranks(place, 2, [&](Rank& here) {
            CHECK(here.save(1).value().kept);
            here.stream.wait_committed(60s).value();
            here.once([&] { place.target.fill(64u << 10); });
            CHECK(here.save(2).value().kept);
            CHECK_FALSE(here.session.close());
        });
        fs::remove_all(test::staging_of(place.options(2), 1));
        with_ranks(place, nodes, [&](Rank& here) {
            CHECK(here.restore() == 1);
            here.once([&] { place.target.empty(); });
            here.session.close().value();
        });
        CHECK(place.committed() == std::vector<std::int64_t>{1});
    }
}

TEST_CASE("what a failed close left staged is found by the next session of the run, which commits it") {
    const Place place;
    with_ranks(place, 1, [&](Rank& here) {
        here.once([&] { place.target.fill(64u << 10); });
        CHECK(here.save(7).value().kept);
        CHECK_FALSE(here.session.close());
    });
    place.target.empty();
    with_ranks(place, 1, [&](Rank& here) {
        auto restart = here.stream.newest().value();
        REQUIRE(restart);
        CHECK(restart->step() == 7);
        restart->read().value();
        CHECK(std::ranges::all_of(here.data, [](double value) { return value == 7; }));
        here.session.close().value();
    });
    CHECK(place.committed() == std::vector<std::int64_t>{7});
}

int main(int argc, char** argv) {
    if (!test::enter_own_mounts()) {
        std::puts("skipped: mounting a tmpfs needs root or a user namespace");
        return 77;
    }
    return doctest::Context(argc, argv).run();
}
