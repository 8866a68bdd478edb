// Goal: an import cut at any point leaves its snapshot whole or absent; after success it is there. A fault leaves
// nothing. A source is opened once and read within the window, for any number of variables and rows.

#include "insight/foreign/import_snapshot.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/base/try.hpp"
#include "insight/foreign/limits.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/commit.hpp"
#include "support/crashes.hpp"
#include "support/palm_files.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using namespace forebay::foreign;
using test::Op;
using test::SimStore;

namespace {

const commit::Destination to{.run = "runs/run7", .stream = "restart", .step = 120, .replaces = true};

void put_file(sys::Store& store, const std::string& path, std::span<const std::byte> bytes) {
    auto file = store.open(path, sys::Access::create).value();
    file->write(0, bytes).value();
    file->close().value();
}

void put_sources(SimStore& disk) {
    REQUIRE(disk.make_directories("in"));
    for (std::int32_t process = 0; process < 3; ++process)
        put_file(disk, "in/_00000" + std::to_string(process), test::palm_process(process, 3));
    REQUIRE(disk.make_directories("runs"));
    disk.settle();
}

Result<> import(SimStore& disk) {
    FB_TRY_ASSIGN(contents, open_palm_fortran(disk, "in", {}));
    FB_TRY(import_snapshot(disk, contents, to, {}));
    return {};
}

// "absent", "whole", or the fault.
std::string found_in(SimStore& disk) {
    const auto snapshots = catalog::snapshots(disk, to.run, to.stream);
    if (!snapshots || snapshots->empty()) return "absent";
    const auto verified = catalog::verify(disk, snapshots->front(), {});
    if (!verified) return verified.error().text();
    if (!verified->damage.empty()) return verified->damage.front().text;
    const auto file = catalog::load_head(disk, snapshots->front().directory + "/node-00000.h5");
    if (!file) return file.error().text();
    for (const auto& block : file->blocks) {
        if (file->schema.variables[block.variable].name != "u") continue;
        std::vector<double> values(block.size_bytes / 8);
        const auto in = disk.open(snapshots->front().directory + "/node-00000.h5", sys::Access::read).value();
        in->read(block.offset_bytes, std::as_writable_bytes(std::span(values))).value();
        if (values != std::vector(2 * 3 * 4, 0.5 + block.rank)) return "u differs";
    }
    return "whole";
}

}  // namespace

TEST_CASE("a crash at any operation leaves the snapshot whole or absent") {
    SimStore before;
    put_sources(before);
    test::crash_at_each(before, test::reboots(6), import, [](SimStore& disk, const Result<>& done) {
        const auto state = found_in(disk);
        CHECK((state == "whole" || state == "absent"));
        if (done) CHECK(state == "whole");
        // A retry succeeds, and the crash's leftovers can be swept.
        REQUIRE(import(disk));
        CHECK(found_in(disk) == "whole");
        commit::recover(disk, to.run, true).value();
        CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
    });
}

TEST_CASE("a fault of the target or of a source is told and leaves nothing") {
    for (const auto kind : {Op::write, Op::sync, Op::truncate, Op::rename, Op::close}) {
        SimStore disk;
        put_sources(disk);
        catalog::make_identity(disk, to.run).value();
        disk.fail(kind, 0, {ErrorKind::full, "no room"});
        const auto done = import(disk);
        CAPTURE(static_cast<int>(kind));
        REQUIRE_FALSE(done.has_value());
        CHECK(done.error().what == "no room");
        CHECK(found_in(disk) == "absent");
        CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
    }
    SimStore disk;
    put_sources(disk);
    const auto contents = open_palm_fortran(disk, "in", {}).value();
    put_file(disk, "in/_000002", {});  // emptied while it is being imported
    CHECK(import_snapshot(disk, contents, to, {}).error().kind == ErrorKind::corrupt);
    CHECK(found_in(disk) == "absent");
}

TEST_CASE("a step with no number above it is refused before anything is written") {
    SimStore disk;
    put_sources(disk);
    const auto contents = open_palm_fortran(disk, "in", {}).value();
    auto last = to;
    last.step = std::numeric_limits<std::int64_t>::max();
    const auto written = import_snapshot(disk, contents, last, {});
    REQUIRE_FALSE(written);
    CHECK(written.error().kind == ErrorKind::refused);
    CHECK(written.error().text().find("steps are 0 to 9223372036854775806") != std::string::npos);
    CHECK_FALSE(disk.exists(to.run).value());
}

TEST_CASE("each source is opened once to look, once to copy, and for samples") {
    SimStore disk;
    put_sources(disk);
    const auto contents = open_palm_fortran(disk, "in", {}).value();
    const auto before = disk.calls(Op::open);
    std::uint64_t last = 0, all = 0;
    import_snapshot(disk, contents, to, [&](std::uint64_t done, std::uint64_t bytes) {
        CHECK(done > last);
        last = done;
        all = bytes;
    }).value();
    CHECK(last == contents.bytes());
    CHECK(all == contents.bytes());
    // Three sources, the head of the snapshot to replace, the node file, its head when it is gathered, the manifest.
    CHECK(disk.calls(Op::open) - before == 8);
}

TEST_CASE("short runs are read together, long ones alone, and give the same bytes from any position") {
    std::vector<std::byte> bytes(3 * foreign::limits::window_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2'654'435'761u >> 24);
    SimStore disk;
    put_file(disk, "source", bytes);
    const auto file = disk.open("source", sys::Access::read).value();
    const auto check = [&](const Origin& origin, int reads_max) {
        std::vector<std::byte> expected;
        for (std::uint64_t run = 0; run < origin.runs; ++run) {
            const auto at = origin.ranges.front().offset + origin.first + run * origin.stride_bytes;
            expected.insert(expected.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + origin.run_bytes));
        }
        OriginReader reader;
        std::vector<std::byte> content(expected.size());
        const auto before = disk.calls(Op::read);
        const auto third = content.size() / 3;
        for (std::size_t at = 0; at < content.size(); at += third)
            reader.read(*file, origin, at, std::span(content).subspan(at, std::min(third, content.size() - at)))
                .value();
        CHECK((content == expected));
        CHECK(disk.calls(Op::read) - before <= reads_max);
    };
    const Range all{0, bytes.size()};
    check({.ranges = {all}, .first = 40, .run_bytes = 24, .stride_bytes = 40, .runs = 200'000}, 14);
    check(
        {.ranges = {all}, .first = 8, .run_bytes = 1000, .stride_bytes = foreign::limits::window_bytes / 2, .runs = 6},
        14);
    check({.ranges = {all}, .first = 0, .run_bytes = 100'000, .stride_bytes = 120'000, .runs = 200}, 210);
    check(whole(0, {{16, bytes.size() - 16}}), 4);
}
