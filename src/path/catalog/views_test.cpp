// Goal: retention removes views, keeps and reports every file without a mark, and stops before it touches the snapshot
// if a look fails. Method: files under names of views on the simulated disk.

#include "path/catalog/views.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/committed_run.hpp"
#include "support/marked_view.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using catalog::Standing;
using catalog::ViewsOf;
using test::marked_view;
using test::Op;
using test::SimStore;

namespace {

const std::string run = "run7";
const std::string stream = "run7/restart";
const std::string own = stream + "/step-000010.h5", series = stream + "/series.nc";

void put(SimStore& disk, const std::string& path, const std::string& bytes) {
    REQUIRE(disk.make_directories(stream));
    REQUIRE(sys::write_text_durable(disk, path, bytes));
}

void make_steps(SimStore& disk) {
    for (const std::int64_t step : {10, 20, 30})
        REQUIRE(test::commit_all(disk, run, {.id = static_cast<std::uint64_t>(step), .step = step}));
}

}  // namespace

TEST_CASE("what stands: only the mark makes a view") {
    SimStore disk;
    CHECK(catalog::what_stands(disk, own).value() == Standing::nothing);
    put(disk, own, marked_view());
    CHECK(catalog::what_stands(disk, own).value() == Standing::view);
    for (const auto& bytes : {std::string(), std::string("\x89HDF\r\n\x1a\n"), std::string(1000, 'x'),
                              marked_view() + "and more", marked_view().substr(1)}) {
        put(disk, own, bytes);
        CHECK(catalog::what_stands(disk, own).value() == Standing::other);
    }
    REQUIRE(disk.make_directories(series));
    CHECK(catalog::what_stands(disk, series).value() == Standing::other);
}

TEST_CASE("what stands: what may not be opened is not ours, what cannot be read now is an error") {
    SimStore disk;
    put(disk, own, marked_view());
    for (const auto kind : {ErrorKind::refused, ErrorKind::corrupt}) {
        disk.fail(Op::open, 0, {kind, "no"});
        CHECK(catalog::what_stands(disk, own).value() == Standing::other);
    }
    for (const auto op : {Op::exists, Op::open, Op::size, Op::read}) {
        disk.fail(op, 0, {ErrorKind::retry, "Input/output error"});
        CHECK(catalog::what_stands(disk, own).error().kind == ErrorKind::retry);
    }
    // Another agent removes it between the two looks. If it still existed, it would be a broken link.
    test::InterruptedStore store(disk, 1, [&] { REQUIRE(disk.remove(own)); });
    CHECK(catalog::what_stands(store, own).value() == Standing::nothing);
    put(disk, series, marked_view());
    disk.fail(Op::open, 0, {ErrorKind::missing, "no"});
    CHECK(catalog::what_stands(disk, series).value() == Standing::other);
}

TEST_CASE("remove_views: of a step alone, or with those of several steps") {
    SimStore disk;
    const auto other = stream + "/step-000010.nc", later = stream + "/step-000020.h5";
    for (const auto& path : {own, series, later}) put(disk, path, marked_view());
    put(disk, other, "somebody's");
    auto views = catalog::remove_views(disk, stream, 10, ViewsOf::step).value();
    CHECK(views.views == std::vector<std::string>{own});
    CHECK(views.others == std::vector<std::string>{other});
    CHECK_FALSE(disk.exists(own).value());
    CHECK(disk.exists(series).value());
    views = catalog::remove_views(disk, stream, 10, ViewsOf::step_and_series).value();
    CHECK(views.views == std::vector<std::string>{series});
    CHECK_FALSE(disk.exists(series).value());
    CHECK(disk.peek(other) == "somebody's");
    CHECK(disk.exists(later).value());
}

TEST_CASE("prune: what is no view stays and is named once, also by a dry run") {
    SimStore disk;
    make_steps(disk);
    const auto other = stream + "/step-000020.openpmd.h5";
    put(disk, own, marked_view());
    put(disk, other, "an export");
    put(disk, series, "another one");
    for (const bool dry_run : {true, false}) {
        auto others = catalog::prune(disk, run, "restart", {.keep = 1, .dry_run = dry_run}).value().others;
        std::ranges::sort(others);
        CHECK(others == std::vector<std::string>{series, other});
        CHECK(disk.exists(own).value() == dry_run);
        CHECK(disk.peek(other) == "an export");
        CHECK(disk.peek(series) == "another one");
    }
    CHECK(catalog::prune(disk, run, "restart", {.keep = 1, .dry_run = false}).value().others.empty());
    CHECK(catalog::stays_text(other).find("Next: rm " + other) != std::string::npos);
}

TEST_CASE("prune: a view that cannot be read now keeps its snapshot") {
    SimStore disk;
    make_steps(disk);
    put(disk, own, marked_view());
    disk.settle();
    // First it checks the snapshots that stay: one manifest and one node file each.
    const auto clean = disk.clone();
    REQUIRE(catalog::prune(*clean, run, "restart", {.keep = 2, .dry_run = true}));
    const int opens = clean->calls(Op::open) - 1, reads = clean->calls(Op::read) - 1;
    for (const auto& [op, nth] : {std::pair{Op::open, opens}, std::pair{Op::read, reads}}) {
        const auto failing = disk.clone();
        failing->fail(op, nth, {ErrorKind::retry, "Input/output error"});
        CHECK(catalog::prune(*failing, run, "restart", {.keep = 2, .dry_run = false}).error().kind == ErrorKind::retry);
        CHECK(failing->exists(own).value());
        CHECK(test::is_whole(*failing, run, {.id = 10, .step = 10}));
        REQUIRE(catalog::prune(*failing, run, "restart", {.keep = 2, .dry_run = false}));
        CHECK_FALSE(failing->exists(own).value());
    }
}
