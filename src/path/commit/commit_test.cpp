// Goal: a crash at any point of commit, or of the recovery after it, leaves a snapshot whole or absent. If the snapshot
// replaces an older save of the same step, one of the two is whole. A snapshot reported as committed is there. Method:
// drain real node files onto the simulated disk and settle it. Run commit once for each of its operations, with a power
// cut before that operation. Reboot into each state that POSIX allows and into random torn states. Check, recover,
// check again.

#include <doctest/doctest.h>

#include "path/commit/commit.hpp"

#include <algorithm>

#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/marked_view.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using commit::Commit;
using test::Op;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";

const std::string view_of_step = "run7/restart/step-000120.h5";

bool is_listed(sys::Store& store, const SmallSnapshot& snapshot) {
    const auto snapshots = catalog::snapshots(store, run, snapshot.stream);
    return snapshots && !snapshots->empty();
}

// The disk as agents leave it before the commit: node files synced, names only synced as far as agents do it. The last
// agent has only renamed its file when another agent sees all files and commits.
std::unique_ptr<SimStore> drained(const SmallSnapshot& snapshot, const SmallSnapshot* older) {
    SimStore disk;
    REQUIRE(disk.make_directories(run));
    disk.settle();
    if (older != nullptr) {
        REQUIRE(test::drain_all(disk, run, *older));
        REQUIRE(test::commit(disk, run, *older).value() == Commit::committed);
        REQUIRE(sys::write_text_durable(disk, view_of_step, test::marked_view("shows the older save")));
        disk.settle();
    }
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
        REQUIRE(test::drain_node(disk, run, snapshot, node, node + 1 < snapshot.nodes));
    return disk.clone();
}

std::size_t leftovers(sys::Store& store, const SmallSnapshot& snapshot) {
    return catalog::leftovers(store, run, snapshot.stream).value().size();
}

// After the reboot nothing is half there and nothing is lost. The next job recovers, its agents drain again, and all is
// in order.
void check_after_crash(SimStore& disk, const SmallSnapshot& snapshot, const SmallSnapshot* older, bool committed) {
    const bool is_new = test::is_whole(disk, run, snapshot);
    const bool is_old = older != nullptr && test::is_whole(disk, run, *older);
    if (is_listed(disk, snapshot)) CHECK((is_new || is_old));
    if (committed) CHECK(is_new);
    if (disk.exists(view_of_step).value()) CHECK_FALSE(is_new);

    const auto recovered = commit::recover(disk, run, false);
    REQUIRE(recovered);
    if (committed) CHECK(test::is_whole(disk, run, snapshot));
    if (older != nullptr) CHECK((test::is_whole(disk, run, snapshot) || test::is_whole(disk, run, *older)));

    auto again = test::commit(disk, run, snapshot);
    REQUIRE(again);
    if (*again == Commit::waiting) {
        REQUIRE(test::drain_all(disk, run, snapshot));
        again = test::commit(disk, run, snapshot);
    }
    REQUIRE(again);
    CHECK(*again != Commit::waiting);
    REQUIRE(commit::recover(disk, run, true));
    CHECK(test::is_whole(disk, run, snapshot));
    CHECK(leftovers(disk, snapshot) == 0);
}

auto committing(const SmallSnapshot& snapshot) {
    return [&snapshot](SimStore& disk) { return test::commit(disk, run, snapshot); };
}

void crash_everywhere(const SmallSnapshot& snapshot, const SmallSnapshot* older,
                      const test::Reboots& ways = test::reboots(9), int cuts_max = test::all_cuts) {
    const auto before = drained(snapshot, older);
    const auto clean = before->clone();
    REQUIRE(test::commit(*clean, run, snapshot).value() == Commit::committed);
    REQUIRE(test::is_whole(*clean, run, snapshot));
    const auto check = [&](SimStore& disk, const Result<Commit>& committed) {
        check_after_crash(disk, snapshot, older, committed.has_value());
    };
    test::crash_at_each(*before, ways, committing(snapshot), check, cuts_max);
}

const SmallSnapshot single{.id = 0xf3, .nodes = 1};
const SmallSnapshot three{.id = 0xf3, .nodes = 3};
const SmallSnapshot older_save{.id = 0x01d, .nodes = 2, .sealed_unix_ns = 1'600'000'000'000'000'000};

}  // namespace

TEST_CASE("commit: a crash at any operation leaves the step absent or whole") {
    crash_everywhere(single, nullptr);
    crash_everywhere(three, nullptr);
}

TEST_CASE("commit: a crash at any operation while replacing leaves one of both whole") {
    crash_everywhere(single, &older_save);
    crash_everywhere(three, &older_save);
}

TEST_CASE("commit: groups of node files are as durable as one directory") {
    // Reading 130 heads changes nothing. The twelve operations after it do.
    crash_everywhere({.id = 0xf3, .nodes = 130, .elements_per_rank = 1}, nullptr, test::reboots(4), 12);
}

TEST_CASE("recover: a crash at any of its operations loses nothing") {
    const auto recover = [](SimStore& disk) { return commit::recover(disk, run, false); };
    std::vector<std::string> names_before;
    constexpr std::uint64_t names_stay = 1;
    const auto recover_everywhere = [&](SimStore& crashed, const Result<Commit>& committed) {
        // Recovery finds something new only if names changed.
        if (crashed.paths() == names_before && !committed) return;
        names_before = crashed.paths();
        REQUIRE(recover(*crashed.clone()));
        test::crash_at_each(crashed, {0, 2, 4, 6, 8}, recover, [&](SimStore& disk, const auto&) {
            check_after_crash(disk, single, &older_save, committed.has_value());
        });
    };
    test::crash_at_each(*drained(single, &older_save), {names_stay}, committing(single), recover_everywhere);
}

TEST_CASE("commit: a fault at any operation is an error, and the next try commits") {
    for (const auto* older : {static_cast<const SmallSnapshot*>(nullptr), &older_save}) {
        const auto check = [&](SimStore& disk, const Result<Commit>& outcome) {
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error().kind == ErrorKind::retry);
            if (older != nullptr) CHECK((test::is_whole(disk, run, *older) || test::is_whole(disk, run, three)));
            const auto again = test::commit(disk, run, three);
            REQUIRE(again);
            CHECK(test::is_whole(disk, run, three));
        };
        test::fault_at_each(*drained(three, older),
                            {Op::open, Op::write, Op::read, Op::size, Op::sync, Op::close, Op::rename, Op::remove_tree,
                             Op::sync_directory, Op::list, Op::exists},
                            committing(three), check);
    }
}

TEST_CASE("commit: waits for every node file") {
    SimStore disk;
    CHECK(test::commit(disk, run, three).value() == Commit::waiting);
    for (const std::uint32_t node : {2u, 0u}) {
        REQUIRE(test::drain_node(disk, run, three, node));
        CHECK(test::commit(disk, run, three).value() == Commit::waiting);
        CHECK_FALSE(is_listed(disk, three));
    }
    REQUIRE(test::drain_node(disk, run, three, 1));
    CHECK(test::commit(disk, run, three).value() == Commit::committed);
    CHECK(test::commit(disk, run, three).value() == Commit::already);
    CHECK(test::is_whole(disk, run, three));
}

TEST_CASE("commit: refuses node files that do not make one snapshot, and moves nothing") {
    struct Wrong {
        const char* what;
        SmallSnapshot snapshot;  // its node 1 lies in the place of ours
        std::uint32_t node;
        const char* problem;
    };
    auto other_schema = three;
    other_schema.elements_per_rank = 41;
    auto other_step = three;
    other_step.step = 121;
    auto other_id = three;
    other_id.id = 0xbad;
    auto other_count = three;
    other_count.nodes = 4;
    for (const auto& wrong : {Wrong{"id", other_id, 1, "0000000000000bad"}, Wrong{"step", other_step, 1, "step 121"},
                              Wrong{"node", three, 2, "node 2 of 3"}, Wrong{"count", other_count, 1, "node 1 of 4"},
                              Wrong{"schema", other_schema, 1, "variables differ"}}) {
        CAPTURE(wrong.what);
        SimStore disk;
        REQUIRE(test::drain_all(disk, run, three));
        const auto path = test::part_directory(run, three) + "/node-00001.h5";
        auto file = disk.open(path, sys::Access::create).value();
        REQUIRE(file->write(0, test::small_node_file(wrong.snapshot, wrong.node)));
        const auto paths = disk.paths();
        const auto outcome = test::commit(disk, run, three);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == ErrorKind::refused);
        CHECK(outcome.error().text().find(path) != std::string::npos);
        CHECK(outcome.error().text().find(wrong.problem) != std::string::npos);
        CHECK(disk.paths() == paths);
    }
}

TEST_CASE("commit: a torn or short node file is corrupt and nothing is committed") {
    SimStore disk;
    REQUIRE(test::drain_all(disk, run, three));
    const auto path = test::part_directory(run, three) + "/node-00002.h5";
    auto image = test::small_node_file(three, 2);
    image.resize(image.size() - 1);
    REQUIRE(disk.open(path, sys::Access::create).value()->write(0, image));
    const auto outcome = test::commit(disk, run, three);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::corrupt);
    CHECK(outcome.error().text().find("cut short") != std::string::npos);
    CHECK_FALSE(is_listed(disk, three));
}

TEST_CASE("commit: an agent that finds the step committed makes that durable before it says so") {
    const auto before = drained(three, nullptr);
    const auto clean = before->clone();
    REQUIRE(test::commit(*clean, run, three));
    for (int sync = 1; sync < clean->calls(Op::sync_directory); ++sync) {
        CAPTURE(sync);
        const auto disk = before->clone();
        disk->fail(Op::sync_directory, sync, {ErrorKind::retry, "Input/output error"});
        REQUIRE_FALSE(test::commit(*disk, run, three));  // the first agent has renamed, and stops there
        REQUIRE(test::commit(*disk, run, three).value() == Commit::already);
        disk->reboot({.names = false, .bytes = false});
        CHECK(test::is_whole(*disk, run, three));
    }
}

TEST_CASE("commit: costs are known") {
    const auto disk = drained(three, nullptr);
    REQUIRE(test::commit(*disk, run, three).value() == Commit::committed);
    CHECK(disk->calls(Op::open) == 3 + 1);  // three heads, the manifest
    CHECK(disk->calls(Op::rename) == 2);
    CHECK(disk->calls(Op::sync) == 1);
    CHECK(disk->calls(Op::sync_directory) == 3);  // for the part, the stream, the run
    CHECK(disk->calls(Op::list) == 2);            // of the part, and of absent marks

    const SmallSnapshot many{.nodes = 8100, .elements_per_rank = 1};
    SimStore waiting;
    REQUIRE(test::drain_node(waiting, run, many, 8099));
    const int before = waiting.operations();
    CHECK(test::commit(waiting, run, many).value() == Commit::waiting);
    CHECK(waiting.operations() - before <= 8);  // no agent checks 8,100 names to see that a file is missing
}

TEST_CASE("recover: complete parts are committed, incomplete ones stay unless told") {
    SimStore disk;
    SmallSnapshot half = three;
    half.step = 130;
    REQUIRE(test::drain_all(disk, run, three));
    REQUIRE(test::drain_node(disk, run, half, 1));
    auto recovered = commit::recover(disk, run, false).value();
    REQUIRE(recovered.size() == 2);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::incomplete);
    CHECK(recovered[0].text.find("1 of 3 node files") != std::string::npos);
    CHECK(recovered[1].outcome == commit::Recovered::Outcome::committed);
    CHECK(test::is_whole(disk, run, three));
    recovered = commit::recover(disk, run, true).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::removed);
    CHECK(leftovers(disk, three) == 0);
    CHECK(commit::recover(disk, run, true).value().empty());
}

TEST_CASE("recover: an earlier save never takes the place of a later one") {
    SimStore disk;
    REQUIRE(test::drain_all(disk, run, older_save));
    REQUIRE(test::drain_all(disk, run, three));
    REQUIRE(test::commit(disk, run, three).value() == Commit::committed);
    const auto recovered = commit::recover(disk, run, false).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::removed);
    CHECK(test::is_whole(disk, run, three));
    CHECK(leftovers(disk, three) == 0);
}

TEST_CASE("recover: what was replaced stays while its replacement is damaged") {
    SimStore disk;
    REQUIRE(test::drain_all(disk, run, three));
    REQUIRE(test::commit(disk, run, three).value() == Commit::committed);
    const auto final_directory = test::step_directory(run, three);
    REQUIRE(disk.rename(final_directory, run + "/restart/.step-000120.00000000000000f3.old"));
    REQUIRE(test::drain_all(disk, run, older_save));
    REQUIRE(test::commit(disk, run, older_save).value() == Commit::committed);
    REQUIRE(disk.remove(final_directory + "/node-00001.h5"));
    const auto recovered = commit::recover(disk, run, true).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::incomplete);
    CHECK(recovered[0].text.find("Safe: the other copy") != std::string::npos);
    CHECK(leftovers(disk, three) == 1);
}
