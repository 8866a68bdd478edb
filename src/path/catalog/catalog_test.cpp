// Goal: the list shows exactly the committed snapshots; verify finds and reports every damaged byte; prune never
// removes the newest whole snapshot and survives a power cut at any of its operations. Method: small runs on the
// simulated disk; damage by hand; crashes before each operation of prune.

#include <doctest/doctest.h>

#include "path/catalog/catalog.hpp"

#include <algorithm>

#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/marked_view.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using catalog::Leftover;
using test::Op;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const std::string stream = "restart";

void make(SimStore& disk, const SmallSnapshot& snapshot) { REQUIRE(test::commit_all(disk, run, snapshot)); }

SmallSnapshot at_step(std::int64_t step) {
    return {.id = 0x100 + static_cast<std::uint64_t>(step), .step = step, .nodes = 2};
}

std::vector<std::int64_t> steps_of(const std::vector<catalog::Snapshot>& snapshots) {
    std::vector<std::int64_t> steps;
    for (const auto& snapshot : snapshots) steps.push_back(snapshot.step);
    return steps;
}
std::vector<std::int64_t> steps_in(sys::Store& store) {
    return steps_of(catalog::snapshots(store, run, stream).value());
}

catalog::Snapshot snapshot_of(const SmallSnapshot& small) {
    return {stream, small.step, test::step_directory(run, small)};
}

std::string node_path(const SmallSnapshot& small, std::uint32_t node) {
    return test::step_directory(run, small) + "/" + format::node_path(node, small.nodes);
}

void write_over(SimStore& disk, const std::string& path, std::span<const std::byte> bytes) {
    auto file = disk.open(path, sys::Access::create).value();
    REQUIRE(file->write(0, bytes));
}

}  // namespace

TEST_CASE("names: written and read alike, and nothing else is ours") {
    CHECK(catalog::step_name(120) == "step-000120");
    CHECK(catalog::step_name(12'345'678) == "step-12345678");
    CHECK(catalog::view_name(7) == "step-000007.h5");
    CHECK(catalog::view_name(7, Convention::openpmd) == "step-000007.openpmd.h5");
    CHECK(catalog::series_name(Convention::netcdf) == "series.nc");
    CHECK(catalog::part_name(120, 0xf3) == ".step-000120.00000000000000f3.part");
    for (const std::int64_t step : {0LL, 7LL, 999'999LL, 1'000'000LL, 9'223'372'036'854'775'807LL}) {
        CHECK(catalog::step_of(catalog::step_name(step)) == step);
        for (const auto kind : {Leftover::Kind::part, Leftover::Kind::old, Leftover::Kind::gone}) {
            const auto leftover = catalog::leftover_of(catalog::leftover_name({step, ~0ull - 5, kind}));
            REQUIRE(leftover);
            CHECK(leftover->step == step);
            CHECK(leftover->snapshot_id == ~0ull - 5);
            CHECK(leftover->kind == kind);
        }
    }
    for (const char* foreign :
         {"", "step-", "step-7", "step-0000120", "step--00007", "step-+00007", "step-00012x", "step-000120.h5",
          "step-99999999999999999999", ".step-000120.f3.part", ".step-000120.00000000000000F3.part",
          ".step-000120.00000000000000f3.partly", ".step-000120.00000000000000f3", ".step-000120", ".", "..", ".part",
          ".step-12.00000000000000f3.part", "step-000120.00000000000000f3.part"}) {
        CAPTURE(foreign);
        CHECK_FALSE(catalog::step_of(foreign));
        CHECK_FALSE(catalog::leftover_of(foreign));
    }
}

TEST_CASE("listing: committed snapshots newest first, leftovers apart, strangers left alone") {
    SimStore disk;
    for (const std::int64_t step : {120, 1'000'000, 80}) make(disk, at_step(step));
    auto other = at_step(40);
    other.stream = "fields";
    REQUIRE(test::drain_node(disk, run, other, 0));
    REQUIRE(disk.make_directories(run + "/restart/notes"));
    REQUIRE(disk.make_directories(run + "/restart/.step-000060.0000000000000001.gone"));
    REQUIRE(disk.make_directories(run + "/plots/step-1"));
    REQUIRE(disk.make_directories(run + "/.hidden/step-000120"));
    REQUIRE(sys::write_text_durable(disk, run + "/restart/step-000999", "a file of that name"));
    REQUIRE(sys::write_text_durable(disk, run + "/restart/step-000120.h5", test::marked_view()));

    CHECK(catalog::streams(disk, run).value() == std::vector<std::string>{"fields", "restart"});
    CHECK(steps_in(disk) == std::vector<std::int64_t>{1'000'000, 120, 80});
    CHECK(catalog::snapshots(disk, run, "fields").value().empty());
    const auto parts = catalog::leftovers(disk, run, "fields").value();
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].kind == Leftover::Kind::part);
    CHECK(parts[0].step == 40);
    CHECK(parts[0].snapshot_id == other.id);
    CHECK(parts[0].directory == test::part_directory(run, other));
    CHECK(catalog::leftovers(disk, run, stream).value().at(0).kind == Leftover::Kind::gone);
}

TEST_CASE("listing: an absent run or stream is an error, not an empty list") {
    SimStore disk;
    CHECK(catalog::streams(disk, run).error().kind == ErrorKind::missing);
    REQUIRE(disk.make_directories(run));
    CHECK(catalog::streams(disk, run).value().empty());
    const auto absent = catalog::snapshots(disk, run, "fields");
    REQUIRE_FALSE(absent);
    CHECK(absent.error().kind == ErrorKind::missing);
    CHECK(absent.error().text().find("\"fields\"") != std::string::npos);
    CHECK(catalog::leftovers(disk, run, "fields").error().kind == ErrorKind::missing);
}

TEST_CASE("check_whole: opens each file once and reads 8 KiB; finds what is not as committed") {
    SimStore disk;
    const auto small = at_step(120);
    make(disk, small);
    const auto directory = test::step_directory(run, small);
    const auto manifest = catalog::load_manifest(disk, directory).value();
    const int opens = disk.calls(Op::open), reads = disk.calls(Op::read);
    CHECK(catalog::check_whole(disk, directory, manifest));
    CHECK(disk.calls(Op::open) - opens == 2);
    CHECK(disk.calls(Op::read) - reads == 2);

    const auto path = node_path(small, 1);
    auto image = test::small_node_file(small, 1);
    const auto verdict = [&] {
        const auto whole = catalog::check_whole(disk, directory, manifest);
        REQUIRE_FALSE(whole);
        CHECK(whole.error().text().find(path) != std::string::npos);
        return whole.error();
    };
    write_over(disk, path, std::span(image).first(image.size() - 1));
    CHECK(verdict().text().find("cut short") != std::string::npos);
    write_over(disk, path, std::span(image).first(100));
    CHECK(verdict().kind == ErrorKind::corrupt);
    auto other = small;
    other.elements_per_rank = 39;  // the same id, but another file
    write_over(disk, path, test::small_node_file(other, 1));
    CHECK(verdict().text().find("not the committed file") != std::string::npos);
    other = at_step(121);
    write_over(disk, path, test::small_node_file(other, 1));
    CHECK(verdict().text().find("step 121") != std::string::npos);
    REQUIRE(disk.remove(path));
    CHECK(verdict().kind == ErrorKind::missing);
}

TEST_CASE("verify: every block is read, damage is named by variable, rank and bytes") {
    SimStore disk;
    auto small = at_step(120);
    small.elements_per_rank = 300'000;  // 2.4 MB a rank: three segments, the last one short
    make(disk, small);
    std::uint64_t done = 0, all = 0;
    const auto whole = catalog::verify(disk, snapshot_of(small), [&](std::uint64_t a, std::uint64_t b) {
        CHECK(a >= done);
        done = a;
        all = b;
    });
    REQUIRE(whole);
    CHECK(whole->damage.empty());
    // For each node: a scalar, two fields of three segments, and rows of rank 0 or 2 in two columns.
    CHECK(whole->segments == 2 * (1 + 2 * 3 + 2));
    CHECK(whole->bytes == 2 * (8 + 2 * 2'400'000) + (10 + 20) * 12);
    CHECK(done == whole->bytes);
    CHECK(all == whole->bytes);

    const auto path = node_path(small, 1);
    const auto head = catalog::load_head(disk, path).value();
    for (const auto& block : head.blocks) {
        for (const auto at : {std::uint64_t{0}, block.size_bytes / 2, block.size_bytes - 1}) {
            if (block.size_bytes == 0) continue;
            auto image = test::small_node_file(small, 1);
            image[block.offset_bytes + at] ^= std::byte{1};
            write_over(disk, path, image);
            const auto verified = catalog::verify(disk, snapshot_of(small), {}).value();
            REQUIRE(verified.damage.size() == 1);
            const auto& damage = verified.damage[0];
            CHECK(damage.file == path);
            CHECK(damage.variable == head.schema.variables[block.variable].name);
            CHECK(damage.rank == block.rank);
            CHECK(damage.first_byte == block.offset_bytes + at / limits::segment_bytes * limits::segment_bytes);
            CHECK(damage.last_byte <= block.offset_bytes + block.size_bytes - 1);
            CHECK(damage.first_byte <= block.offset_bytes + at);
            CHECK(block.offset_bytes + at <= damage.last_byte);
            CHECK(damage.text.find(damage.variable) != std::string::npos);
        }
    }
}

TEST_CASE("verify: node files that are missing, short or swapped are damage too, the rest is read on") {
    SimStore disk;
    auto small = at_step(120);
    small.nodes = 4;
    make(disk, small);
    auto image = test::small_node_file(small, 1);
    write_over(disk, node_path(small, 1), std::span(image).first(image.size() / 2));
    write_over(disk, node_path(small, 2), test::small_node_file(small, 3));
    REQUIRE(disk.remove(node_path(small, 3)));
    std::uint64_t done = 0, all = 1;
    const auto verified =
        catalog::verify(disk, snapshot_of(small), [&](std::uint64_t a, std::uint64_t b) { done = a, all = b; }).value();
    REQUIRE(verified.damage.size() == 3);
    CHECK(done == all);
    CHECK(verified.bytes > 0);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(verified.damage[i].file == node_path(small, i + 1));
        CHECK(verified.damage[i].variable.empty());
    }
    CHECK(verified.damage[0].text.find("cut short") != std::string::npos);
    CHECK(verified.damage[2].text.find("missing") != std::string::npos);
}

TEST_CASE("verify: a check that cannot be made is an error, never a clean bill") {
    SimStore disk;
    const auto small = at_step(120);
    CHECK(catalog::verify(disk, snapshot_of(small), {}).error().kind == ErrorKind::missing);
    make(disk, small);
    const int reads = [&] {
        const auto clean = disk.clone();
        REQUIRE(catalog::verify(*clean, snapshot_of(small), {}));
        return clean->calls(Op::read);
    }();
    for (int nth = 0; nth < reads; ++nth) {
        const auto failing = disk.clone();
        failing->fail(Op::read, nth, {ErrorKind::retry, "Input/output error"});
        const auto verified = catalog::verify(*failing, snapshot_of(small), {});
        REQUIRE_FALSE(verified);
        CHECK(verified.error().kind == ErrorKind::retry);
    }
    const auto closed = disk.clone();
    closed->fail(Op::open, 1, {ErrorKind::refused, "open: node file: Permission denied"});  // after the manifest
    CHECK(catalog::verify(*closed, snapshot_of(small), {}).error().kind == ErrorKind::refused);
    REQUIRE(sys::write_text_durable(disk, test::step_directory(run, small) + "/manifest.json", "{}"));
    CHECK(catalog::verify(disk, snapshot_of(small), {}).error().kind == ErrorKind::corrupt);
}

TEST_CASE("files: the first that is absent is named, and nothing is read") {
    SimStore disk;
    auto small = at_step(120);
    small.nodes = 3;
    make(disk, small);
    const auto directory = test::step_directory(run, small);
    const auto manifest = catalog::load_manifest(disk, directory).value();
    const auto reads = disk.calls(Op::read), opens = disk.calls(Op::open), lists = disk.calls(Op::list);
    CHECK(catalog::check_files(disk, directory, manifest));
    CHECK(disk.calls(Op::read) == reads);
    CHECK(disk.calls(Op::open) == opens + 1);
    CHECK(disk.calls(Op::list) == lists + 1);
    disk.fail(Op::open, 0, {ErrorKind::refused, "open: node file: Permission denied"});
    CHECK(catalog::check_files(disk, directory, manifest).error().kind == ErrorKind::refused);
    REQUIRE(disk.remove(node_path(small, 1)));
    const auto missing = catalog::check_files(disk, directory, manifest);
    CHECK(missing.error().kind == ErrorKind::missing);
    CHECK(missing.error().what.find(node_path(small, 1)) == 0);
}

TEST_CASE("verify and a listing, while retention removes the snapshot at any of their operations: it is no damage") {
    SimStore whole;
    make(whole, at_step(10));
    make(whole, at_step(20));
    const auto snapshot = snapshot_of(at_step(10));
    bool more = true;
    for (int at = 0; more; ++at) {
        CAPTURE(at);
        const auto disk = whole.clone();
        test::InterruptedStore store(
            *disk, at, [&] { REQUIRE(catalog::discard(*disk, snapshot.directory, snapshot.step, at_step(10).id)); });
        const auto verified = catalog::verify(store, snapshot, {});
        if (!verified) CHECK(verified.error().kind == ErrorKind::missing);
        if (!verified || !verified->damage.empty())
            CHECK(catalog::is_removed(*disk, snapshot.directory, verified ? verified->snapshot_id : 0).value());
        more = store.operations() > at;
        const auto listed = whole.clone();
        test::InterruptedStore listing(*listed, at, [&] {
            REQUIRE(catalog::discard(*listed, snapshot.directory, snapshot.step, at_step(10).id));
        });
        const auto versions = catalog::heads_of(listing, run, stream).value();
        CHECK(std::ranges::all_of(versions, [](const auto& version) { return version.readable.has_value(); }));
        more |= listing.operations() > at;
    }
}

TEST_CASE("discard: whatever is removed already, the manifest was removed before it") {
    SimStore whole;
    make(whole, at_step(10));
    const auto snapshot = snapshot_of(at_step(10));
    write_over(whole, snapshot.directory + "/before-all-others.h5", {});
    whole.settle();
    const auto count = whole.paths().size();
    int cut_amid = 0;
    for (int at = 0;; ++at) {
        CAPTURE(at);
        const auto disk = whole.clone();
        disk->crash_before(at);
        const auto done = catalog::discard(*disk, snapshot.directory, snapshot.step, at_step(10).id);
        if (done) break;
        const auto left = disk->paths();
        const bool has_manifest = std::ranges::any_of(left, [](const auto& path) { return path.ends_with(".json"); });
        CHECK(has_manifest == (left.size() == count));
        cut_amid += left.size() < count && left.size() > 2 ? 1 : 0;
    }
    CHECK(cut_amid >= 2);
}

// A client of a network file system may see a removal of another client like this: the old name, file by file.
TEST_CASE("is_removed: a snapshot without its manifest that still shows files was damaged, not removed") {
    SimStore disk;
    make(disk, at_step(10));
    const auto snapshot = snapshot_of(at_step(10));
    CHECK_FALSE(catalog::is_removed(disk, snapshot.directory, 0).value());
    CHECK_FALSE(catalog::is_removed(disk, snapshot.directory, at_step(10).id).value());
    CHECK(catalog::is_removed(disk, snapshot.directory, at_step(20).id).value());  // another save has its name
    REQUIRE(disk.remove(node_path(at_step(10), 1)));
    CHECK_FALSE(catalog::is_removed(disk, snapshot.directory, at_step(10).id).value());
    REQUIRE(disk.remove(snapshot.directory + "/manifest.json"));
    CHECK_FALSE(catalog::is_removed(disk, snapshot.directory, 0).value());
    REQUIRE(disk.remove(node_path(at_step(10), 0)));
    CHECK_FALSE(catalog::is_removed(disk, snapshot.directory, 0).value());  // emptied by hand
    REQUIRE(disk.remove_tree(snapshot.directory));
    CHECK(catalog::is_removed(disk, snapshot.directory, 0).value());
}

TEST_CASE("prune: counts whole snapshots only, and removes nothing in doubt") {
    SimStore disk;
    for (const std::int64_t step : {100, 120, 140, 160, 180}) make(disk, at_step(step));
    const std::vector<std::string> gone{"step-000100.h5", "step-000100.nc", "step-000120.openpmd.h5", "series.h5part"};
    for (const auto& view : gone) REQUIRE(sys::write_text_durable(disk, run + "/restart/" + view, test::marked_view()));
    REQUIRE(sys::write_text_durable(disk, run + "/restart/step-000180.nc", test::marked_view()));
    REQUIRE(disk.remove(node_path(at_step(160), 0)));

    auto pruned = catalog::prune(disk, run, stream, {.keep = 2, .dry_run = true}).value();
    CHECK(steps_of(pruned.kept) == std::vector<std::int64_t>{180, 160, 140});
    CHECK(steps_of(pruned.removed) == std::vector<std::int64_t>{120, 100});
    REQUIRE(pruned.problems.size() == 1);
    CHECK(pruned.problems[0].find("step 160") != std::string::npos);
    CHECK(steps_in(disk).size() == 5);  // a dry run

    CHECK(catalog::prune(disk, run, stream, {.keep = 0}).value().removed.empty());
    CHECK(catalog::prune(disk, run, stream, {.keep = 5}).value().removed.empty());  // only four are whole
    CHECK(catalog::prune(disk, run, stream, {.keep = -1}).error().kind == ErrorKind::refused);

    pruned = catalog::prune(disk, run, stream, {.keep = 2}).value();
    CHECK(steps_of(pruned.removed) == std::vector<std::int64_t>{120, 100});
    CHECK(steps_in(disk) == std::vector<std::int64_t>{180, 160, 140});
    for (const auto& view : gone) CHECK_FALSE(disk.exists(run + "/restart/" + view).value());
    CHECK(disk.exists(run + "/restart/step-000180.nc").value());
    CHECK(catalog::leftovers(disk, run, stream).value().empty());
}

TEST_CASE("prune: a step that is spared stays, and the window is as long as without it") {
    SimStore disk;
    for (const std::int64_t step : {20, 40, 60, 80, 100}) make(disk, at_step(step));
    CHECK(catalog::prune(disk, run, stream, {.keep = 2, .keep_also = 40}).value().removed.size() == 2);
    CHECK(steps_in(disk) == std::vector<std::int64_t>{100, 80, 40});
}

TEST_CASE("prune: the newest whole snapshot stays even when newer ones are damaged or unreadable now") {
    SimStore disk;
    for (const std::int64_t step : {100, 120, 140}) make(disk, at_step(step));
    REQUIRE(disk.remove(node_path(at_step(140), 1)));
    // It opens the heads of three manifests first; this is the first node file of step 120, once.
    disk.fail(Op::open, 7, {ErrorKind::retry, "Input/output error"});
    const auto pruned = catalog::prune(disk, run, stream, {.keep = 1}).value();
    CHECK(pruned.removed.empty());
    CHECK(test::is_whole(disk, run, at_step(100)));
}

TEST_CASE("prune: a crash at any operation leaves each snapshot whole or absent, and the kept ones whole") {
    SimStore disk;
    for (const std::int64_t step : {100, 120, 140}) make(disk, at_step(step));
    REQUIRE(sys::write_text_durable(disk, run + "/restart/step-000100.h5", test::marked_view()));
    disk.settle();
    const auto prune = [](SimStore& store) { return catalog::prune(store, run, stream, {.keep = 1}); };
    REQUIRE(prune(*disk.clone()).value().removed.size() == 2);
    test::crash_at_each(disk, test::reboots(20), prune, [&](SimStore& crashed, const auto&) {
        CHECK(test::is_whole(crashed, run, at_step(140)));
        for (const auto step : steps_in(crashed)) CHECK(test::is_whole(crashed, run, at_step(step)));
        const bool view = crashed.exists(run + "/restart/step-000100.h5").value();
        if (view) CHECK(test::is_whole(crashed, run, at_step(100)));

        REQUIRE(test::recover_all(crashed, run));
        CHECK(catalog::leftovers(crashed, run, stream).value().empty());
        for (const auto step : steps_in(crashed)) CHECK(test::is_whole(crashed, run, at_step(step)));
        REQUIRE(prune(crashed));
        CHECK(steps_in(crashed) == std::vector<std::int64_t>{140});
    });
}
