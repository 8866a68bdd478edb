// Goal: helpers are chosen evenly among nodes that are not excluded. A helper publishes its address, writes for every
// client with the token, counts its writes, never creates the run again, and removes its address. Method: a run in a
// local directory, and this process as both sides.

#include "path/agent/neighbours.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/format/neighbour.hpp"
#include "core/forward/forwarded_store.hpp"
#include "core/forward/message.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::agent;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t number = 1;

struct HelpedRun {
    test::TempDirectory folder;
    sys::Store& store = sys::posix_store();
    node::SessionFile session{.run = folder / "run", .host = sys::host_name(), .agent = {}};
    std::vector<Event> events;
    std::unique_ptr<Helper> helper;

    HelpedRun() {
        session.run_id = catalog::make_identity(store, session.run).value();
        store.make_directories(catalog::run_lock_directory(session.run, number)).value();
        session.neighbours = {.helpers = 1, .number = 0, .token = forward::new_token()};
        helper =
            Helper::start(store, session, number, "2", [this](const Event& event) { events.push_back(event); }).value();
    }
    std::string path() const { return neighbour_path(session.run, number, 0); }
};

}  // namespace

TEST_CASE("helpers are spread evenly over the nodes that are not excluded") {
    std::vector<bool> excluded(8100);
    excluded[4050] = excluded[1] = true;
    const auto helpers = helpers_of(excluded, 2);
    CHECK(helpers == std::vector<std::uint32_t>{2025, 6075});
    for (const std::uint32_t wanted : {1u, 3u, 17u, 64u}) {
        const auto some = helpers_of(excluded, wanted);
        REQUIRE(some.size() == wanted);
        CHECK(std::ranges::is_sorted(some));
        CHECK(std::ranges::adjacent_find(some) == some.end());
        CHECK(std::ranges::none_of(some, [&](auto node) { return excluded[node]; }));
        for (std::size_t i = 1; i < some.size(); ++i) CHECK(some[i] - some[i - 1] <= 8100 / wanted + 2);
    }
    CHECK(helpers_of({true, false, true}, 2) == std::vector<std::uint32_t>{1});
    CHECK(helpers_of({true, true}, 2).empty());
    CHECK(helpers_of({false}, 2).empty());  // there is no second node
    CHECK(helpers_of({false, false}, 0).empty());
}

TEST_CASE("who has the token writes through a helper, which says so at its end, and leaves no address") {
    HelpedRun job;
    const auto way = way_through(job.store, job.session, number, 0).value();
    CHECK(way.name == sys::host_name() + "/2");
    const auto text = sys::read_text(job.store, job.path(), 65536).value();
    CHECK(text.find(job.session.neighbours.token) == text.npos);
    for (const char* name : {"/node-00001.h5.tmp", "/manifest.json"}) {
        auto file = way.store->open(job.session.run + name, sys::Access::create).value();
        CHECK(file->write(0, bytes_of("x")));
        CHECK(file->close());
    }
    CHECK(job.store.exists(job.session.run + "/node-00001.h5.tmp").value());
    job.helper.reset();
    CHECK_FALSE(job.store.exists(job.path()).value());
    REQUIRE(job.events.size() == 2);
    CHECK(job.events[0].what == What::helps);
    CHECK(job.events[1].what == What::helped);
    CHECK(job.events[1].count == 1);
    CHECK(way.store->exists(job.session.run).error().kind == ErrorKind::retry);
    CHECK(way_through(job.store, job.session, number, 0).error().kind == ErrorKind::missing);
}

TEST_CASE("a helper that has helped nobody says nothing at its end") {
    HelpedRun job;
    job.helper.reset();
    CHECK(job.events.size() == 1);
}

TEST_CASE("who has another token is refused") {
    HelpedRun job;
    job.session.neighbours.token = forward::new_token();
    const auto way = way_through(job.store, job.session, number, 0);
    REQUIRE_FALSE(way);
}

TEST_CASE("a run that is gone is not made anew by a client that comes") {
    HelpedRun job;
    const auto way = way_through(job.store, job.session, number, 0).value();
    job.store.rename(job.session.run, job.folder / "moved").value();
    // Another client, with an address that it read before.
    auto other = job.session;
    other.run = job.folder / "run";
    const auto text = sys::read_text(job.store, neighbour_path(job.folder / "moved", number, 0), 65536).value();
    const auto address = format::decode_neighbour(text, "x").value();
    const auto client =
        forward::ForwardedStore::make({.run = other.run, .to = address.addresses, .token = other.neighbours.token})
            .value();
    CHECK_FALSE(client->exists(other.run));
    CHECK_FALSE(job.store.exists(other.run).value());
}

TEST_CASE("a helper stays while clients are connected, until it is to leave, and no longer than the limit") {
    HelpedRun job;
    const auto never = [] { return false; };
    auto begin = sys::Clock::now();
    job.helper->stay(never, 60s);  // no client is there
    CHECK(sys::Clock::now() - begin < 30s);
    auto way = way_through(job.store, job.session, number, 0).value();
    begin = sys::Clock::now();
    job.helper->stay(never, 200ms);
    CHECK(sys::Clock::now() - begin >= 200ms);
    int looks = 0;
    job.helper->stay([&] { return ++looks > 3; }, 60s);
    CHECK(looks == 4);
    way.store.reset();
    job.helper->stay(never, 60s);
}
