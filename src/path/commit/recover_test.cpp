// Goal: recover() finishes the work that was left at a target, and never at the price of something whole. It loses no
// later save, and no replaced save whose replacement is damaged. A disk that fails during the look costs nothing.
// (Power cuts at each of its operations: commit_test.)

#include <doctest/doctest.h>

#include "path/catalog/names.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using commit::Recovered;
using test::Op;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const SmallSnapshot three{.id = 0xf3, .nodes = 3};
const SmallSnapshot older_save{.id = 0x01d, .nodes = 2, .sealed_unix_ns = 1'600'000'000'000'000'000};
const SmallSnapshot next{.id = 0xf4, .step = 130, .nodes = 2};

std::size_t leftovers(sys::Store& store) { return catalog::leftovers(store, run, "restart").value().size(); }

std::string leftover_path(const SmallSnapshot& snapshot, catalog::Leftover::Kind kind) {
    return run + "/restart/" + catalog::leftover_name({snapshot.step, snapshot.id, kind});
}

// Leaves all kinds: a complete part whose older save is committed, a complete part of another step, an incomplete part,
// a step during its replacement, and a step during its removal.
void leave_all_kinds(SimStore& disk) {
    REQUIRE(test::commit_all(disk, run, older_save));
    REQUIRE(test::drain_all(disk, run, three));
    REQUIRE(test::drain_all(disk, run, next));
    REQUIRE(test::drain_node(disk, run, {.id = 0xf5, .step = 140, .nodes = 2}, 0));
    const SmallSnapshot replaced{.id = 0x50, .step = 50}, gone{.id = 0x40, .step = 40};
    REQUIRE(test::commit_all(disk, run, replaced));
    REQUIRE(disk.rename(test::step_directory(run, replaced), leftover_path(replaced, catalog::Leftover::Kind::old)));
    REQUIRE(test::commit_all(disk, run, gone));
    REQUIRE(disk.rename(test::step_directory(run, gone), leftover_path(gone, catalog::Leftover::Kind::gone)));
    disk.settle();
}

void check_all_kinds_recovered(SimStore& disk) {
    CHECK(leftovers(disk) == 0);
    CHECK(test::is_whole(disk, run, three));
    CHECK(test::is_whole(disk, run, next));
    CHECK(test::is_whole(disk, run, {.id = 0x50, .step = 50}));
    CHECK(catalog::snapshots(disk, run, "restart").value().size() == 3);
}

}  // namespace

TEST_CASE("recover: a second copy of a committed snapshot is removed") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, three));
    REQUIRE(test::drain_all(disk, run, three));
    const auto recovered = commit::recover(disk, run, false).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == Recovered::Outcome::removed);
    CHECK(test::is_whole(disk, run, three));
    CHECK(leftovers(disk) == 0);
}

TEST_CASE("recover: what writers who were killed left in snapshots goes, also in those that a line has abandoned") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, three));
    const auto aside = run + "/restart/" + catalog::aside_name({1, 0}, three.step);
    REQUIRE(disk.rename(test::step_directory(run, three), aside));
    REQUIRE(sys::write_text_durable(disk, aside + "/manifest.json", "{}"));
    const auto names = [&] { return disk.list(aside).value().size(); };
    const auto before = names();
    REQUIRE(disk.open(aside + "/.manifest.json.4711-00000000000000f3.tmp", sys::Access::create));
    const auto own = run + "/forebay";
    REQUIRE(disk.make_directories(own));
    REQUIRE(disk.open(own + "/.summary.json.4711-00000000000000f3.tmp", sys::Access::create));
    REQUIRE(commit::recover(disk, run, false));
    CHECK(names() == before + 1);
    REQUIRE(commit::recover(disk, run, true));
    CHECK(names() == before);
    CHECK(disk.list(own).value().empty());
}

TEST_CASE("recover: what it says it has done is durable") {
    SimStore disk;
    leave_all_kinds(disk);
    REQUIRE(commit::recover(disk, run, true));
    disk.reboot({.names = false, .bytes = false});
    check_all_kinds_recovered(disk);
}

TEST_CASE("recover: a fault at any operation loses nothing and blames nobody, and the next try finishes") {
    SimStore before;
    leave_all_kinds(before);
    const auto recover = [](SimStore& disk) { return commit::recover(disk, run, true); };
    test::fault_at_each(before,
                        {Op::open, Op::write, Op::read, Op::size, Op::sync, Op::close, Op::rename, Op::remove_tree,
                         Op::sync_directory, Op::list, Op::exists},
                        recover, [&](SimStore& disk, const auto& recovered) {
                            if (recovered)
                                for (const auto& entry : *recovered)
                                    CHECK(entry.text.find("damaged") == std::string::npos);
                            REQUIRE(recover(disk));
                            check_all_kinds_recovered(disk);
                        });
}

TEST_CASE("recover: a fault at any operation never puts an earlier save in the place of a later one") {
    SimStore before;
    REQUIRE(test::drain_all(before, run, older_save));
    REQUIRE(test::commit_all(before, run, three));
    test::fault_at_each(
        before, {Op::open, Op::read, Op::size, Op::close, Op::list, Op::exists, Op::remove_tree},
        [](SimStore& disk) { return commit::recover(disk, run, false); },
        [](SimStore& disk, const auto&) { CHECK(test::is_whole(disk, run, three)); });
}
