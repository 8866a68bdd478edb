// Goal: agents of three nodes write one shared file: what each call costs is known and the length is set once; only
// whole pages go past the page cache, and the pages that nodes share hold the bytes of all; what is there is left as it
// is; staged bytes that were damaged are never told to have arrived.
// Method: real node files onto the simulated disk, whose slabs and rows meet within pages.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "drain/commit.hpp"
#include "drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::Op;
using test::SimStore;

namespace {

const test::SmallSnapshot snapshot{.nodes = 3, .elements_per_rank = 5'000, .nodes_per_file = format::in_shared_file};
const std::string path = test::part_directory("run", snapshot) + "/shared.h5";

Result<> drain_to(SimStore& disk, std::uint32_t node, bool direct = false) {
    const drain::NodeDrain how{.store = &disk,
                               .run = "run",
                               .write = {.block_bytes = 4 * limits::page_bytes, .in_flight = 1},
                               .direct = direct};
    return drain::drain_node_file(how, test::small_node_file(snapshot, node), "slot");
}

Result<drain::Commit> commit(SimStore& disk) {
    return drain::commit_if_complete(disk, "run", snapshot.stream, snapshot.step, snapshot.id, snapshot.nodes,
                                     format::in_shared_file);
}

}  // namespace

TEST_CASE("costs: a node opens the file twice and syncs it twice; its length is set by the first, and by the commit") {
    SimStore disk;
    std::string bytes;
    for (const std::uint32_t node : {1u, 0u, 2u}) {
        const auto opens = disk.calls(Op::open), syncs = disk.calls(Op::sync), cuts = disk.calls(Op::truncate);
        REQUIRE(drain_to(disk, node));
        CHECK(disk.calls(Op::open) - opens == 2);  // looks whether it is there; writes
        CHECK(disk.calls(Op::sync) - syncs == 2);  // bytes, and the arrival
        CHECK(disk.calls(Op::truncate) - cuts == (node == 1 ? 1 : 0));
        CHECK(disk.calls(Op::rename) == 0);
        CHECK(commit(disk).value() == (node == 2 ? drain::Commit::committed : drain::Commit::waiting));
    }
    CHECK(disk.calls(Op::truncate) == 2);
    CHECK(test::is_whole(disk, "run", snapshot));
    CHECK(disk.list(test::step_directory("run", snapshot)).value().size() == 2);  // with its manifest
}

TEST_CASE("past the page cache: the same bytes as through it, and a descriptor more for the ends") {
    SimStore cached, direct;
    direct.support_direct(true);
    for (const std::uint32_t node : {2u, 0u, 1u}) {
        REQUIRE(drain_to(cached, node));
        const auto opens = direct.calls(Op::open), syncs = direct.calls(Op::sync);
        REQUIRE(drain_to(direct, node, true));
        CHECK(direct.calls(Op::open) - opens == 3);
        CHECK(direct.calls(Op::sync) - syncs == 3);
    }
    CHECK(*cached.peek(path) == *direct.peek(path));
    CHECK(commit(direct).value() == drain::Commit::committed);
    CHECK(test::is_whole(direct, "run", snapshot));
}

TEST_CASE("what has arrived is left as it is; what was damaged at the target is written anew") {
    SimStore disk;
    REQUIRE(drain_to(disk, 0));
    const auto writes = disk.calls(Op::write);
    REQUIRE(drain_to(disk, 0));
    CHECK(disk.calls(Op::write) == writes);
    // The head of its region.
    const auto at = test::small_group(snapshot, 0).offset_of(0) + 4100;
    const std::array damage{std::byte{0xFF}};
    REQUIRE(disk.open(path, sys::Access::update).value()->write(at, damage));
    REQUIRE(drain_to(disk, 0));
    CHECK(disk.calls(Op::write) > writes + 1);
    REQUIRE(drain_to(disk, 1));
    REQUIRE(drain_to(disk, 2));
    CHECK(commit(disk).value() == drain::Commit::committed);
    CHECK(test::is_whole(disk, "run", snapshot));
}

TEST_CASE("a staged byte that is not what the application gave: the node does not arrive") {
    const auto good = test::small_node_file(snapshot, 1);
    const auto head = format::open_head(good, "slot").value();
    for (std::size_t v = 0; v < head.schema.variables.size(); ++v) {
        if (head.schema.variables[v].kind == Kind::replicated || head.extents[v].used_bytes == 0) continue;
        CAPTURE(v);
        auto image = good;
        image[head.extents[v].offset_bytes + head.extents[v].used_bytes - 1] ^= std::byte{1};
        SimStore disk;
        const auto drained = drain::drain_node_file({.store = &disk, .run = "run", .direct = false}, image, "slot");
        REQUIRE_FALSE(drained);
        CHECK(drained.error().kind == ErrorKind::corrupt);
        REQUIRE(drain_to(disk, 0));
        REQUIRE(drain_to(disk, 2));
        CHECK(commit(disk).value() == drain::Commit::waiting);
        REQUIRE(drain_to(disk, 1));
        CHECK(commit(disk).value() == drain::Commit::committed);
        CHECK(test::is_whole(disk, "run", snapshot));
    }
}

TEST_CASE("a node that places its rows elsewhere than those before it end: nothing is committed") {
    SimStore disk;
    REQUIRE(drain_to(disk, 0));
    REQUIRE(drain_to(disk, 2));
    auto image = test::small_node_file(snapshot, 1);
    auto layout = test::small_layout(snapshot, 1);
    const auto staged = format::open_head(image, "slot").value();
    std::vector<std::uint64_t> offsets;
    for (const auto& extent : staged.extents) offsets.push_back(extent.shared_offset_bytes);
    offsets[2] -= 8;
    format::patch_shared(layout, offsets, image);
    format::seal(layout, staged.record, image);
    REQUIRE(drain::drain_node_file({.store = &disk, .run = "run", .direct = false}, image, "slot"));
    const auto outcome = commit(disk);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::refused);
    CHECK(outcome.error().text.find("node-00001") != std::string::npos);
    CHECK_FALSE(disk.exists(test::step_directory("run", snapshot)).value());
}
