// Goal: a rename that is not atomic loses no snapshot. On DAOS a client that dies inside a rename leaves one directory
// under both names, and a removal by either name removes its bytes. Method: cut commit, recover and prune at each of
// their operations, on a disk with such renames. Then recover, commit again, and remove incomplete parts.

#include <doctest/doctest.h>

#include <algorithm>

#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using commit::Commit;
using commit::Recovered;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const SmallSnapshot three{.id = 0xf3, .nodes = 3};
const SmallSnapshot older_save{.id = 0x01d, .nodes = 2, .sealed_unix_ns = 1'600'000'000'000'000'000};

std::unique_ptr<SimStore> drained(const SmallSnapshot& snapshot, const SmallSnapshot* older) {
    SimStore disk;
    disk.cut_renames();
    if (older != nullptr) REQUIRE(test::commit_all(disk, run, *older));
    REQUIRE(test::drain_all(disk, run, snapshot));
    disk.settle();
    return disk.clone();
}

void check_nothing_lost(SimStore& disk, const SmallSnapshot* older) {
    REQUIRE(commit::recover(disk, run, false));
    CHECK(test::is_whole(disk, run, three));
    const auto again = test::commit(disk, run, three);
    REQUIRE(again);
    CHECK(*again == Commit::already);
    REQUIRE(commit::recover(disk, run, true));
    CHECK(test::is_whole(disk, run, three));
    if (older != nullptr) CHECK_FALSE(test::is_whole(disk, run, *older));
}

// The agents try again, without recover.
void check_agents_go_on(SimStore& disk) {
    const auto again = test::commit(disk, run, three);
    REQUIRE(again);
    CHECK((*again == Commit::committed || *again == Commit::already));
    CHECK(test::is_whole(disk, run, three));
}

}  // namespace

TEST_CASE("cut renames: a commit that is killed at any operation loses nothing") {
    for (const auto* older : {static_cast<const SmallSnapshot*>(nullptr), &older_save}) {
        const auto before = drained(three, older);
        test::crash_at_each(
            *before, {test::programs_killed}, [](SimStore& disk) { return test::commit(disk, run, three); },
            [&](SimStore& disk, const Result<Commit>&) {
                check_agents_go_on(*disk.clone());
                check_nothing_lost(disk, older);
            });
    }
}

TEST_CASE("cut renames: a recover that is killed at any operation loses nothing") {
    const auto recover = [](SimStore& disk) { return commit::recover(disk, run, false); };
    test::crash_at_each(
        *drained(three, &older_save), {test::programs_killed},
        [](SimStore& disk) { return test::commit(disk, run, three); },
        [&](SimStore& disk, const Result<Commit>&) {
            test::crash_at_each(disk, {test::programs_killed}, recover,
                                [&](SimStore& again, const auto&) { check_nothing_lost(again, &older_save); });
        });
}

TEST_CASE("cut renames: recover leaves both names, and says so") {
    auto disk = drained(three, nullptr);
    REQUIRE(test::commit(*disk, run, three));
    const auto part = test::part_directory(run, three), step = test::step_directory(run, three);
    // The commit once more, cut in its rename.
    REQUIRE(disk->rename(step, part));
    disk->crash_before(disk->operations());
    CHECK_FALSE(disk->rename(part, step));
    disk->kill_programs();
    for (const bool remove_incomplete : {false, true}) {
        const auto recovered = commit::recover(*disk, run, remove_incomplete).value();
        REQUIRE(recovered.size() == 1);
        CHECK(recovered[0].outcome == Recovered::Outcome::incomplete);
        CHECK(recovered[0].text.find(step) != std::string::npos);
        CHECK(test::is_whole(*disk, run, three));
    }
    const auto refused = catalog::discard(*disk, part, three.step, three.id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(test::is_whole(*disk, run, three));
}

TEST_CASE("cut renames: a removal of the snapshot ends, at any cut") {
    auto disk = drained(three, nullptr);
    REQUIRE(test::commit(*disk, run, three));
    const auto step = test::step_directory(run, three);
    const auto remove = [&](SimStore& at) { return catalog::discard(at, step, three.step, three.id); };
    test::crash_at_each(*disk, {test::programs_killed}, remove, [&](SimStore& at, const auto&) {
        REQUIRE(remove(at));
        REQUIRE(commit::recover(at, run, true));
        CHECK_FALSE(at.exists(step).value());
        CHECK(catalog::leftovers(at, run, three.stream).value().empty());
    });
}

TEST_CASE("cut renames: two committed names of one snapshot stay, and are named") {
    auto disk = drained(three, nullptr);
    REQUIRE(test::commit(*disk, run, three));
    const auto step = test::step_directory(run, three);
    const auto aside = run + "/" + three.stream + "/" + catalog::aside_name({1}, three.step);
    REQUIRE(disk->rename(step, aside));
    disk->crash_before(disk->operations());
    CHECK_FALSE(disk->rename(aside, step));
    disk->kill_programs();
    const auto refused = catalog::discard(*disk, aside, three.step, three.id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    static_cast<void>(catalog::prune(*disk, run, three.stream, {.keep = 1}));
    CHECK(test::is_whole(*disk, run, three));
}

TEST_CASE("cut renames: a second name does not keep a snapshot from its removal") {
    auto disk = drained(three, nullptr);
    REQUIRE(test::commit(*disk, run, three));
    const auto step = test::step_directory(run, three);
    const auto old =
        run + "/" + three.stream + "/" + catalog::leftover_name({three.step, three.id, catalog::Leftover::Kind::old});
    REQUIRE(disk->rename(step, old));
    disk->crash_before(disk->operations());
    CHECK_FALSE(disk->rename(old, step));
    disk->kill_programs();
    REQUIRE(catalog::prune_above(*disk, run, three.stream, three.step - 1, 1, false));
    CHECK_FALSE(disk->exists(step).value());
    CHECK_FALSE(disk->exists(old).value());
}

TEST_CASE("cut renames: texts keep their content") {
    SimStore disk;
    disk.cut_renames();
    REQUIRE(disk.make_directories(run));
    REQUIRE(sys::write_text_durable(disk, run + "/text", "old"));
    const auto write = [](SimStore& at) { return sys::write_text_durable(at, run + "/text", "new"); };
    test::crash_at_each(disk, {test::programs_killed}, write, [](SimStore& at, const auto&) {
        const auto before = sys::read_text(at, run + "/text", 10).value();
        CHECK((before == "old" || before == "new"));
        const auto entries = at.list(run).value();
        for (const auto& entry : entries)
            if (sys::is_temporary(entry.name)) REQUIRE(sys::remove_unless_renamed(at, run + "/" + entry.name));
        CHECK(sys::read_text(at, run + "/text", 10).value() == before);
    });
}

TEST_CASE("cut renames: the identity of a run stays") {
    SimStore disk;
    disk.cut_renames();
    const auto make = [](SimStore& at) { return catalog::make_identity(at, run); };
    test::crash_at_each(disk, {test::programs_killed}, make, [&](SimStore& at, const auto&) {
        const auto id = make(at);
        REQUIRE(id);
        REQUIRE(commit::recover(at, run, true));
        CHECK(catalog::identity_of(at, run).value() == *id);
    });
}
