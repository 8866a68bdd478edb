// Goal: after any crash, a node file that drain_node_file() calls drained is at the target to the last byte, over any
// earlier rest; damaged staged bytes never get a final name; the calls and bytes are known.
// Method: real node files onto the simulated disk, with the power cut before each operation; once onto the real disk,
// where a second name shows if the rest was written over.

#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using test::Op;
using test::SimStore;

namespace {

const test::SmallSnapshot snapshot{.nodes = 3};
const auto image = test::small_node_file(snapshot, 1);
const auto whole_block = round_up(image.size(), limits::page_bytes);
const std::string part = test::part_directory("run", snapshot);
const std::string path = part + "/node-00001.h5";

Result<> drain_to(SimStore& disk, std::span<const std::byte> staged = image) {
    return drain::drain_node_file({.store = &disk, .run = "run"}, staged, "slot");
}

using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Records the stretches with reserved room, and the stretches that stay zeros.
class ReservingStore final : public test::PassingStore {
public:
    ReservingStore(sys::Store& store, Stretches& asked, Stretches& zeros)
        : PassingStore(store), asked_(asked), zeros_(zeros) {}
    Result<std::unique_ptr<sys::File>> open(const std::string& name, sys::Access access) override {
        FB_TRY_ASSIGN(file, PassingStore::open(name, access));
        return std::unique_ptr<sys::File>(std::make_unique<Noted>(std::move(file), asked_, zeros_));
    }

private:
    class Noted final : public test::PassingFile {
    public:
        Noted(std::unique_ptr<sys::File> file, Stretches& asked, Stretches& zeros)
            : PassingFile(std::move(file)), asked_(asked), zeros_(zeros) {}
        void reserve(std::uint64_t offset, std::uint64_t bytes) override {
            asked_.emplace_back(offset, bytes);
            PassingFile::reserve(offset, bytes);
        }
        void leave_zeros(std::uint64_t offset, std::uint64_t bytes) override { zeros_.emplace_back(offset, bytes); }

    private:
        Stretches &asked_, &zeros_;
    };
    Stretches &asked_, &zeros_;
};

bool is_whole(const SimStore& disk) {
    const auto content = disk.peek(path);
    return content && std::ranges::equal(bytes_of(*content), image);
}

}  // namespace

TEST_CASE("drain: calls and bytes are known: one file, one sync, one name, one directory") {
    const auto head = format::open_head(image, "image").value();
    std::uint64_t used = 0;
    for (const auto& range : drain::used_ranges(head)) used += range.bytes;
    CHECK(used <= image.size());
    SimStore disk("run");
    REQUIRE(drain_to(disk));
    CHECK(disk.calls(Op::open) == 1);
    CHECK(disk.calls(Op::write) == 1);
    CHECK(disk.bytes_written() == used);
    CHECK(disk.calls(Op::truncate) == 1);
    CHECK(disk.calls(Op::sync) == 1);
    CHECK(disk.calls(Op::rename) == 1);
    CHECK(disk.calls(Op::sync_directory) == 1);
    CHECK(disk.calls(Op::make_directory) == 3);  // the part, which needs the stream first
    CHECK(disk.calls(Op::exists) == 1);
    CHECK(disk.calls(Op::list) == 0);
    REQUIRE(drain_to(disk));  // it is there already: only its head is read
    CHECK(disk.calls(Op::open) == 2);
    CHECK(disk.calls(Op::write) == 1);
    CHECK(disk.calls(Op::sync) == 1);
    CHECK(disk.calls(Op::rename) == 1);
}

TEST_CASE("drain: room is asked for where several writes follow: for their bytes, once") {
    Stretches asked, zeros;
    SimStore disk("run");
    ReservingStore store(disk, asked, zeros);
    const auto head = format::open_head(image, "image").value();
    const auto ranges = drain::used_ranges(head);
    REQUIRE(ranges.size() == 1);
    for (const auto block_bytes : {whole_block, limits::page_bytes}) {
        CHECK(asked.empty());
        disk.remove(path).value();
        REQUIRE(drain::drain_node_file({.store = &store, .run = "run", .write = {.block_bytes = block_bytes}}, image,
                                       "slot"));
    }
    CHECK(asked == std::vector{std::pair(ranges[0].offset, ranges[0].bytes)});
    CHECK(is_whole(disk));
}

TEST_CASE("drain: a crash at any operation leaves the node file whole or absent, and what was drained is there") {
    SimStore before("run");
    REQUIRE(before.make_directories(part));
    before.settle();
    const auto check = [&](SimStore& disk, const auto& drained) {
        if (drained) CHECK(is_whole(disk));
        if (disk.exists(path).value()) CHECK(is_whole(disk));
        REQUIRE(drain_to(disk));
        CHECK(is_whole(disk));
    };
    for (const auto block_bytes : {whole_block, limits::page_bytes}) {
        const auto drain = [&](SimStore& disk) {
            return drain::drain_node_file(
                {.store = &disk, .run = "run", .write = {.block_bytes = block_bytes, .in_flight = 1}}, image, "slot");
        };
        const int cuts = test::crash_at_each(before, test::reboots(20), drain, check);
        CHECK(cuts > (block_bytes == whole_block ? 8 : 10));
    }
}

TEST_CASE("drain: a fault at any operation is an error without a file under the final name, and the next try drains") {
    for (const auto kind : {Op::open, Op::write, Op::truncate, Op::sync, Op::close, Op::make_directory, Op::rename,
                            Op::sync_directory, Op::exists}) {
        CAPTURE(static_cast<int>(kind));
        SimStore disk("run");
        REQUIRE(disk.make_directories(part));
        disk.settle();
        disk.fail(kind, 0, {ErrorKind::retry, "Input/output error"});
        const auto failed = drain_to(disk);
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == ErrorKind::retry);
        if (kind != Op::sync_directory) CHECK_FALSE(disk.peek(path));
        if (kind != Op::rename) CHECK_FALSE(disk.peek(path + ".tmp"));
        REQUIRE(drain_to(disk));
        disk.reboot({.names = false, .bytes = false});
        CHECK(is_whole(disk));
    }
}

TEST_CASE("drain: another agent may commit as soon as the node file has its name, and nothing is drained again") {
    for (int at = 0;; ++at) {
        CAPTURE(at);
        SimStore disk("run");
        for (const std::uint32_t other : {0u, 2u}) REQUIRE(test::drain_node(disk, "run", snapshot, other));
        test::InterruptedStore slow(disk, at, [&] { REQUIRE(test::commit(disk, "run", snapshot)); });
        CHECK(drain::drain_node_file({.store = &slow, .run = "run"}, image, "slot"));
        REQUIRE(test::commit(disk, "run", snapshot));
        CHECK(test::is_whole(disk, "run", snapshot));
        CHECK(catalog::leftovers(disk, "run", snapshot.stream).value().empty());
        if (slow.operations() <= at) break;
    }
}

TEST_CASE("drain: staged bytes that are not what the application gave are corrupt and get no name") {
    const auto head = format::open_head(image, "image").value();
    for (const auto& extent : head.extents) {
        if (extent.used_bytes == 0) continue;
        for (const auto at : {extent.offset_bytes, extent.offset_bytes + extent.used_bytes - 1}) {
            CAPTURE(at);
            auto damaged = image;
            damaged[at] ^= std::byte{1};
            SimStore disk("run");
            const auto failed = drain_to(disk, damaged);
            REQUIRE_FALSE(failed);
            CHECK(failed.error().kind == ErrorKind::corrupt);
            CHECK_FALSE(disk.peek(path));
            CHECK_FALSE(disk.peek(path + ".tmp"));
            CHECK(drain::check_image(damaged, "slot").error().kind == ErrorKind::corrupt);
        }
    }
    CHECK(drain::check_image(image, "slot"));
    SimStore disk("run");
    CHECK(drain_to(disk, std::span(image).first(image.size() - 1)).error().kind == ErrorKind::corrupt);
}

TEST_CASE("drain: a file of another save under the name is replaced") {
    SimStore disk("run");
    auto other = snapshot;
    other.sealed_unix_ns += 5;
    const auto earlier = test::small_node_file(other, 1);
    REQUIRE(drain_to(disk, earlier));
    REQUIRE_FALSE(is_whole(disk));
    REQUIRE(drain_to(disk));
    CHECK(is_whole(disk));
}

TEST_CASE("drain: a file of this save that was damaged at the target is written anew") {
    SimStore disk("run");
    REQUIRE(drain_to(disk));
    const auto head_bytes = format::open_head(image, "slot").value().head_bytes;
    for (const std::uint64_t at : {std::uint64_t{4100}, head_bytes - 1}) {
        CAPTURE(at);
        const std::array damage{static_cast<std::byte>(~image[at])};
        REQUIRE(disk.open(path, sys::Access::update).value()->write(at, damage));
        REQUIRE_FALSE(is_whole(disk));
        REQUIRE(drain_to(disk));
        CHECK(is_whole(disk));
    }
}

TEST_CASE("drain: room that a variable does not use is not written, and reads as zeros") {
    // 4 MiB of capacity; one row is used.
    Schema schema{.stream = "restart", .tables = {"gas"}, .variables = {}};
    schema.variables = {{"gas/x", f64, Kind::particles, {}, 0, Coverage::full, {}},
                        {"gas/y", f64, Kind::particles, {}, 0, Coverage::full, {}}};
    auto layout = format::plan_layout(schema, std::vector<format::RankPart>{{0, {{}, {}}, {512u << 10}}}, {}).value();
    REQUIRE(format::change_rows(layout, std::vector<std::uint64_t>{1}));
    std::vector<std::byte> large(layout.file_bytes, std::byte{0xEE});
    format::encode(layout, large);
    format::patch_rows(layout, large);
    auto words = format::crc_words(layout, large);
    for (const auto& block : layout.blocks)
        words[block.first_segment] = crc32c(std::span(large).subspan(block.offset_bytes, block.size_bytes));
    format::seal(layout, {.snapshot_id = 7, .step = 3, .node = 0, .nodes = 1, .world_ranks = 1}, large);
    SimStore disk("run");
    Stretches asked, stretches;
    ReservingStore store(disk, asked, stretches);
    REQUIRE(drain::drain_node_file({.store = &store, .run = "run"}, large, "slot"));
    CHECK(disk.bytes_written() < 100'000);
    // The written stretches and the zero stretches cover the whole file, each byte once.
    CHECK(stretches.size() == 2);
    for (const auto& range : drain::used_ranges(format::open_head(large, "image").value()))
        stretches.emplace_back(range.offset, range.bytes);
    std::ranges::sort(stretches);
    std::uint64_t end = 0;
    for (const auto& [offset, bytes] : stretches) {
        CHECK(offset == end);
        end = offset + bytes;
    }
    CHECK(end == layout.file_bytes);
    const auto drained = disk.peek(test::part_directory("run", {.id = 7, .step = 3}) + "/node-00000.h5");
    REQUIRE(drained);
    CHECK(drained->size() == layout.file_bytes);
    CHECK((*drained)[layout.blocks[0].offset_bytes + 8 + 4096] == '\0');
    CHECK((*drained)[layout.blocks[1].offset_bytes] == '\xEE');
}

TEST_CASE("drain: the remainder of an earlier try is replaced by a new file") {
    const test::TempDirectory dir;
    auto& store = sys::posix_store();
    const auto own = test::part_directory(dir / "run", snapshot) + "/" + format::node_path(1, snapshot.nodes);
    REQUIRE(store.make_directories(test::part_directory(dir / "run", snapshot)));
    REQUIRE(sys::write_text_durable(store, dir / "torn", "half of it"));
    std::filesystem::create_hard_link(dir / "torn", own + ".tmp");

    const drain::NodeDrain drain{.store = &store, .run = dir / "run", .direct = false};
    drain::drain_node_file(drain, image, "the staged copy").value();

    CHECK(sys::read_text(store, dir / "torn", 100).value() == "half of it");
    CHECK_FALSE(store.exists(own + ".tmp").value());
    CHECK(drain::check_image(bytes_of(sys::read_text(store, own, image.size()).value()), own));
}
