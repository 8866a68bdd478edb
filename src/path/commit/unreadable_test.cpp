// Goal: a missing, cut or empty manifest costs no node file. A save that takes the name of its step keeps these files
// as a part, and recover commits that part again. A crash at any operation loses neither save. Method: committed
// snapshots of each form on a simulated disk, with damaged manifests.

#include <doctest/doctest.h>

#include <functional>

#include "path/catalog/names.hpp"
#include "path/commit/unreadable.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/drained_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using commit::Commit;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const SmallSnapshot left{.id = 0x1d, .nodes = 2, .lineage = {.save = 1, .lines = {{{1, 0}, -1}}}};
const SmallSnapshot anew{.id = 0xf3, .nodes = 2, .lineage = {.save = 1, .lines = {{{1, 0}, -1}, {{2, 0}, 110}}}};

std::string manifest_of(const SmallSnapshot& snapshot) {
    return test::step_directory(run, snapshot) + "/" + catalog::manifest_name;
}

void write(SimStore& disk, const std::string& path, const std::string& text) {
    auto file = disk.open(path, sys::Access::create).value();
    REQUIRE(file->write(0, std::as_bytes(std::span(text))));
    REQUIRE(file->sync());
}

// Each function takes the manifest away.
const std::vector<std::function<void(SimStore&, const std::string&)>> losses = {
    [](SimStore& disk, const std::string& path) { REQUIRE(disk.remove(path)); },
    [](SimStore& disk, const std::string& path) { write(disk, path, ""); },
    [](SimStore& disk, const std::string& path) { write(disk, path, disk.peek(path)->substr(0, 100)); },
};

Result<> recover(SimStore& disk) {
    FB_TRY(commit::make_parts_of_unreadable(disk, run));
    return test::recover_all(disk, run);
}

// Checks that the abandoned save is whole under the name of its line.
bool is_set_aside(SimStore& disk, const SmallSnapshot& snapshot) {
    const auto directory = run + "/restart/" + catalog::aside_name(snapshot.lineage.line(), snapshot.step);
    const auto manifest = catalog::load_manifest(disk, directory);
    const auto verified = catalog::verify(disk, {snapshot.stream, snapshot.step, directory}, {});
    return manifest && manifest->snapshot_id == snapshot.id && verified && verified->damage.empty();
}

}  // namespace

TEST_CASE("a save at the step of an unreadable manifest keeps its node files, and recover commits them") {
    for (const auto nodes_per_file : {1u, 2u, test::all_in_one})
        for (std::size_t loss = 0; loss < losses.size(); ++loss) {
            CAPTURE(nodes_per_file);
            CAPTURE(loss);
            auto before = left, after = anew;
            before.nodes_per_file = after.nodes_per_file = nodes_per_file;
            SimStore disk;
            REQUIRE(test::drain_and_commit(disk, run, before));
            losses[loss](disk, manifest_of(before));
            REQUIRE(test::drain_and_commit(disk, run, after));
            CHECK(test::is_whole(disk, run, after));
            CHECK_FALSE(is_set_aside(disk, before));
            REQUIRE(recover(disk));
            CHECK(test::is_whole(disk, run, after));
            CHECK(is_set_aside(disk, before));
            CHECK(catalog::leftovers(disk, run, "restart").value().empty());
        }
}

TEST_CASE("recover rebuilds a manifest, under the name of the step and of a line") {
    for (const auto& lose : losses) {
        SimStore disk;
        REQUIRE(test::commit_all(disk, run, left));
        lose(disk, manifest_of(left));
        REQUIRE(recover(disk));
        CHECK(test::is_whole(disk, run, left));
        REQUIRE(test::commit_all(disk, run, anew));
        REQUIRE(is_set_aside(disk, left));
        lose(disk, run + "/restart/line-1.step-000120/" + catalog::manifest_name);
        REQUIRE(recover(disk));
        CHECK(is_set_aside(disk, left));
        CHECK(test::is_whole(disk, run, anew));
        CHECK(catalog::leftovers(disk, run, "restart").value().empty());
    }
}

TEST_CASE("a directory whose node files are not all there stays as it is, and is kept by a save") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, left));
    REQUIRE(disk.remove(manifest_of(left)));
    REQUIRE(disk.remove(test::step_directory(run, left) + "/node-00001.h5"));
    const auto paths = disk.paths();
    REQUIRE(recover(disk));
    CHECK(disk.paths() == paths);
    const auto kept = *disk.peek(test::step_directory(run, left) + "/node-00000.h5");
    REQUIRE(test::commit_all(disk, run, anew));
    REQUIRE(recover(disk));
    CHECK(test::is_whole(disk, run, anew));
    CHECK(disk.peek(test::part_directory(run, left) + "/node-00000.h5") == kept);
    // Damaged heads are kept too, once.
    const auto node_file = test::step_directory(run, anew) + "/node-00000.h5";
    auto third = anew;
    for (const auto id : {0x33u, 0x34u}) {
        third.id = id;
        ++third.lineage.save;
        write(disk, test::step_directory(run, anew) + "/" + catalog::manifest_name, "");
        for (const auto* name : {"/node-00000.h5", "/node-00001.h5"})
            write(disk, test::step_directory(run, anew) + name, std::string(9000, 'x'));
        const auto answer = test::commit_all(disk, run, third);
        CHECK(answer.has_value() == (id == 0x33));
        if (!answer) CHECK(answer.error().text().find("000000.part") != std::string::npos);
    }
    CHECK(disk.peek(run + "/restart/" + catalog::part_name(120, 0) + "/node-00000.h5") == std::string(9000, 'x'));
    CHECK(disk.peek(node_file) == std::string(9000, 'x'));
}

TEST_CASE(
    "an unreadable manifest: another run's is refused, this very save is replaced, nothing is thrown away unread") {
    auto before = left, after = anew;
    before.lineage.run_id = 0xa;
    after.lineage.run_id = 0xb;
    SimStore disk;
    REQUIRE(test::drain_all(disk, run, before));
    REQUIRE(commit::commit_if_complete(disk, test::key_of(run, before), 0).value() == Commit::committed);
    REQUIRE(disk.remove(manifest_of(before)));
    REQUIRE(test::drain_all(disk, run, after));
    const auto refused = commit::commit_if_complete(disk, test::key_of(run, after), 0);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("000000000000000a") != std::string::npos);
    CHECK(disk.peek(test::step_directory(run, before) + "/node-00000.h5"));

    SimStore same;
    REQUIRE(test::commit_all(same, run, left));
    REQUIRE(same.remove(manifest_of(left)));
    REQUIRE(test::drain_all(same, run, left));
    CHECK(test::commit(same, run, left).value() == Commit::committed);
    CHECK(test::is_whole(same, run, left));

    SimStore closed;
    REQUIRE(test::commit_all(closed, run, left));
    REQUIRE(closed.remove(manifest_of(left)));
    REQUIRE(test::drain_all(closed, run, anew));
    const auto paths = closed.paths();
    for (int nth = 0; nth < 12; ++nth) {
        const auto disk_now = closed.clone();
        disk_now->fail(test::Op::open, nth, {ErrorKind::refused, "open: Permission denied"}, 100);
        static_cast<void>(test::commit(*disk_now, run, anew));
        const auto there = disk_now->peek(test::step_directory(run, left) + "/node-00000.h5");
        const auto part = disk_now->peek(test::part_directory(run, left) + "/node-00000.h5");
        CHECK((there || part));
    }
}

TEST_CASE("a crash at any operation of a save that keeps node files, and recover, lose neither save") {
    SimStore before;
    REQUIRE(test::commit_all(before, run, left));
    REQUIRE(before.remove(manifest_of(left)));
    REQUIRE(test::drain_all(before, run, anew));
    before.settle();
    auto ways = test::reboots(9);
    ways.push_back(test::programs_killed);
    const auto check = [](SimStore& disk, const Result<Commit>&) {
        // A crash between the two renames leaves only a part. The next agent commits it, and so does recover.
        REQUIRE(recover(disk));
        CHECK(test::is_whole(disk, run, anew));
        CHECK(is_set_aside(disk, left));
    };
    test::crash_at_each(
        before, ways, [](SimStore& disk) { return test::commit(disk, run, anew); }, check);
}
