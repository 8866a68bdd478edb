// Goal: a run's identity is made once, with any number of makers and after any power cut, and a directory that is gone,
// empty or of another run is never mistaken for the run.

#include "path/catalog/run.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::Op;
using test::SimStore;

namespace {

const std::string run = "scratch/run7";

}  // namespace

TEST_CASE("an identity is made with the directory, and stays; looking for it costs one operation") {
    SimStore disk("scratch");
    CHECK(catalog::identity_of(disk, run).value() == 0);
    const auto id = catalog::make_identity(disk, run).value();
    CHECK(id != 0);
    CHECK(catalog::make_identity(disk, run).value() == id);
    CHECK(catalog::identity_of(disk, run).value() == id);
    disk.reboot({.names = false, .bytes = false});
    const int before = disk.operations();
    CHECK(catalog::check_identity(disk, run, id));
    CHECK(disk.operations() - before == 1);
    CHECK(catalog::check_identity(disk, "nowhere", 0));  // a run without identity needs none
}

TEST_CASE("what is not the run is told from it: gone, without identity, another run") {
    SimStore disk("scratch");
    const auto id = catalog::make_identity(disk, run).value();
    const auto kind = [&] { return catalog::check_identity(disk, run, id).error().kind; };
    REQUIRE(disk.rename(run, "scratch/away"));
    CHECK(kind() == ErrorKind::missing);
    REQUIRE(disk.make_directories(run));
    CHECK(kind() == ErrorKind::missing);
    const auto other = catalog::make_identity(disk, run).value();
    CHECK(other != id);
    CHECK(kind() == ErrorKind::refused);
    REQUIRE(disk.remove_tree(run));
    REQUIRE(disk.rename("scratch/away", run));
    CHECK(catalog::check_identity(disk, run, id));
    // Two runs put into one directory.
    REQUIRE(sys::write_text_durable(disk, run + "/forebay/run-00000000000000aa.json", "{}"));
    CHECK(catalog::identity_of(disk, run).error().kind == ErrorKind::corrupt);
}

TEST_CASE("a client that remembers that the identity was not there reads the directory") {
    class Remembering final : public test::PassingStore {
    public:
        using PassingStore::PassingStore;
        Result<bool> exists(const std::string& path) override {
            if (path.find("/run-") != std::string::npos) return false;
            return PassingStore::exists(path);
        }
    };
    SimStore disk("scratch");
    Remembering client(disk);
    const auto id = catalog::make_identity(disk, run).value();
    CHECK(catalog::check_identity(client, run, id));
    CHECK(catalog::check_identity(client, run, id + 1).error().kind == ErrorKind::refused);
}

TEST_CASE("names that are nearly an identity are none") {
    SimStore disk(run + "/forebay");
    for (const auto* name : {"run-0000000000000000.json", "run-00000000000000AA.json", "run-aa.json",
                             "run-00000000000000aa.jso", "run-00000000000000aa.json.tmp", "sessions"})
        REQUIRE(sys::write_text_durable(disk, run + "/forebay/" + name, "{}"));
    CHECK(catalog::identity_of(disk, run).value() == 0);
    CHECK(catalog::make_identity(disk, run).value() != 0);  // although its directory exists
}

TEST_CASE("a run that lost its identity gets back the one that its snapshots name") {
    SimStore disk(run);
    const test::SmallSnapshot snapshot{.lineage = {0xf3, 1, {{{1, 0}, -1}}}};
    REQUIRE(test::drain_all(disk, run, snapshot));
    REQUIRE(commit::commit_if_complete(disk, test::key_of(run, snapshot), 0));
    CHECK(catalog::make_identity(disk, run).value() == 0xf3);
}

TEST_CASE("what it gets back is what most snapshots name: one of another run may lie there") {
    SimStore disk(run);
    for (const std::uint64_t id : {1u, 2u, 3u}) {
        const std::uint64_t run_id = id == 3 ? 0xbad : 0x900d;
        const test::SmallSnapshot snapshot{.id = id,
                                           .step = static_cast<std::int64_t>(id),
                                           .sealed_unix_ns = static_cast<std::int64_t>(id),
                                           .lineage = {.run_id = run_id}};
        REQUIRE(test::drain_all(disk, run, snapshot));
        REQUIRE(commit::commit_if_complete(disk, test::key_of(run, snapshot), 0));
    }
    CHECK(catalog::make_identity(disk, run).value() == 0x900d);
}

TEST_CASE("of many that make it at once all get the same") {
    for (int round = 0; round < 20; ++round) {
        SimStore disk("scratch");
        std::vector<std::uint64_t> ids(5);
        {
            std::vector<std::jthread> makers;
            for (auto& id : ids) makers.emplace_back([&] { id = catalog::make_identity(disk, run).value(); });
        }
        for (const auto id : ids) CHECK(id == ids.front());
        CHECK(catalog::identity_of(disk, run).value() == ids.front());
        REQUIRE(catalog::remove_new(disk, run));
        CHECK(disk.list(run).value().size() == 1);
    }
}

TEST_CASE("a power cut at any operation leaves one identity or none, and one that was given stays") {
    const auto make = [](SimStore& disk) { return catalog::make_identity(disk, run); };
    test::crash_at_each(SimStore("scratch"), test::reboots(20), make, [&](SimStore& disk, const auto& given) {
        const auto identity = catalog::identity_of(disk, run).value();
        if (given) CHECK(identity == *given);
        const auto now = make(disk).value();
        if (identity != 0) CHECK(now == identity);
        REQUIRE(catalog::remove_new(disk, run));
        CHECK(disk.list(run).value().size() == 1);
    });
}

TEST_CASE("an error of storage is no missing identity") {
    SimStore disk("scratch");
    const auto id = catalog::make_identity(disk, run).value();
    disk.fail(Op::list, 0, {ErrorKind::retry, "Input/output error"});
    CHECK(catalog::make_identity(disk, run).error().kind == ErrorKind::retry);
    disk.fail(Op::exists, 0, {ErrorKind::retry, "Input/output error"});
    CHECK(catalog::check_identity(disk, run, id).error().kind == ErrorKind::retry);
    CHECK(catalog::make_identity(disk, run).value() == id);
}
