// Goal: agents of three nodes write one shared file: the cost of each call is known, and the length is set once; only
// whole pages go past the page cache, and pages shared by nodes have the bytes of all nodes; arrived bytes stay;
// damaged staged bytes never arrive.
// Method: real node files onto the simulated disk, with slabs and rows that meet within pages.

#include <doctest/doctest.h>

#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::Op;
using test::SimStore;

namespace {

const test::SmallSnapshot snapshot{.nodes = 3, .elements_per_rank = 5'000, .nodes_per_file = test::all_in_one};
const std::string path = test::part_directory("run", snapshot) + "/shared.h5";

Result<> drain_to(SimStore& disk, std::uint32_t node, bool direct = false, const test::SmallSnapshot& of = snapshot) {
    const drain::NodeDrain how{.store = &disk,
                               .run = "run",
                               .write = {.block_bytes = 4 * limits::page_bytes, .in_flight = 1},
                               .direct = direct};
    return drain::drain_node_file(how, test::small_node_file(of, node), "slot");
}

Result<commit::Commit> commit_run(SimStore& disk, std::uint32_t* asking = nullptr,
                                  const test::SmallSnapshot& of = snapshot) {
    return test::commit(disk, "run", of, asking);
}

}  // namespace

TEST_CASE("costs: a node opens the file twice and syncs it twice; its length is set by the first, and by the commit") {
    SimStore disk("run");
    std::string bytes;
    for (const std::uint32_t node : {1u, 0u, 2u}) {
        const auto opens = disk.calls(Op::open), syncs = disk.calls(Op::sync), cuts = disk.calls(Op::truncate);
        REQUIRE(drain_to(disk, node));
        CHECK(disk.calls(Op::open) - opens == 2);  // looks if it is there; writes
        CHECK(disk.calls(Op::sync) - syncs == 2);  // bytes, and the arrival
        CHECK(disk.calls(Op::truncate) - cuts == (node == 1 ? 1 : 0));
        CHECK(disk.calls(Op::rename) == 0);
        CHECK(commit_run(disk).value() == (node == 2 ? commit::Commit::committed : commit::Commit::waiting));
    }
    CHECK(disk.calls(Op::truncate) == 2);
    CHECK(test::is_whole(disk, "run", snapshot));
    CHECK(disk.list(test::step_directory("run", snapshot)).value().size() == 2);  // with its manifest
}

TEST_CASE("past the page cache: the same bytes as through it, and a descriptor more for the ends") {
    SimStore cached("run"), direct("run");
    direct.support_direct(true);
    for (const std::uint32_t node : {2u, 0u, 1u}) {
        REQUIRE(drain_to(cached, node));
        const auto opens = direct.calls(Op::open), syncs = direct.calls(Op::sync);
        REQUIRE(drain_to(direct, node, true));
        CHECK(direct.calls(Op::open) - opens == 3);
        CHECK(direct.calls(Op::sync) - syncs == 3);
    }
    CHECK(*cached.peek(path) == *direct.peek(path));
    CHECK(commit_run(direct).value() == commit::Commit::committed);
    CHECK(test::is_whole(direct, "run", snapshot));
}

TEST_CASE("what has arrived is left as it is; what was damaged at the target is written anew") {
    SimStore disk("run");
    REQUIRE(drain_to(disk, 0));
    const auto writes = disk.calls(Op::write);
    REQUIRE(drain_to(disk, 0));
    CHECK(disk.calls(Op::write) == writes);
    // Its record, and the rest of its head.
    for (const std::uint64_t in_region : {4100, 8192 + 100}) {
        CAPTURE(in_region);
        const auto written = disk.calls(Op::write);
        const std::array damage{std::byte{0xFF}};
        REQUIRE(disk.open(path, sys::Access::update)
                    .value()
                    ->write(format::region_offset(test::small_form(snapshot, 0), 0) + in_region, damage));
        REQUIRE(drain_to(disk, 0));
        CHECK(disk.calls(Op::write) > written + 2);
    }
    REQUIRE(drain_to(disk, 1));
    REQUIRE(drain_to(disk, 2));
    CHECK(commit_run(disk).value() == commit::Commit::committed);
    CHECK(test::is_whole(disk, "run", snapshot));
}

TEST_CASE("who waits for the last node asks for it alone, whichever that is") {
    for (const std::uint32_t last : {0u, 1u, 2u}) {
        CAPTURE(last);
        SimStore disk("run");
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
            if (node != last) REQUIRE(drain_to(disk, node));
        std::uint32_t asking = (last + 1) % snapshot.nodes;
        CHECK(commit_run(disk, &asking).value() == commit::Commit::waiting);
        CHECK(asking == last);
        const auto reads = disk.calls(Op::read);
        CHECK(commit_run(disk, &asking).value() == commit::Commit::waiting);
        CHECK(disk.calls(Op::read) - reads == 2);  // the file's page and one arrival
        REQUIRE(drain_to(disk, last));
        CHECK(commit_run(disk, &asking).value() == commit::Commit::committed);
    }
}

TEST_CASE("costs: a commit opens the shared file four times, however many nodes it has") {
    for (const std::uint32_t nodes : {2u, 7u}) {
        auto wide = snapshot;
        wide.nodes = nodes;
        SimStore disk("run");
        for (std::uint32_t node = 0; node < nodes; ++node) REQUIRE(drain_to(disk, node, false, wide));
        const auto opens = disk.calls(Op::open);
        CHECK(commit_run(disk, nullptr, wide).value() == commit::Commit::committed);
        CHECK(disk.calls(Op::open) - opens == 4);  // the arrivals, their heads, the file's own head; the manifest
    }
}

TEST_CASE("boxes of so many short runs that a window of few blocks has more pieces than are gathered at once") {
    auto narrow = snapshot;
    narrow.flux_rows = 3 * limits::gathered_pieces_max / 2;
    SimStore disk("run");
    const auto blocks = drain::NodeDrain{
        .store = &disk, .run = "run", .write = {.block_bytes = 16u << 20, .in_flight = 1}, .direct = false};
    for (std::uint32_t node = 0; node < narrow.nodes; ++node)
        REQUIRE(drain::drain_node_file(blocks, test::small_node_file(narrow, node), "slot"));
    CHECK(commit_run(disk, nullptr, narrow).value() == commit::Commit::committed);
    CHECK(test::is_whole(disk, "run", narrow));
}

TEST_CASE("a staged byte that is not what the application gave: the node does not arrive") {
    const auto good = test::small_node_file(snapshot, 1);
    const auto head = format::open_head(good, "slot").value();
    for (std::size_t v = 0; v < head.schema.variables.size(); ++v) {
        if (head.schema.variables[v].kind == Kind::replicated || head.extents[v].used_bytes == 0) continue;
        CAPTURE(v);
        auto image = good;
        image[head.extents[v].offset_bytes + head.extents[v].used_bytes - 1] ^= std::byte{1};
        SimStore disk("run");
        const auto drained = drain::drain_node_file({.store = &disk, .run = "run", .direct = false}, image, "slot");
        REQUIRE_FALSE(drained);
        CHECK(drained.error().kind == ErrorKind::corrupt);
        REQUIRE(drain_to(disk, 0));
        REQUIRE(drain_to(disk, 2));
        CHECK(commit_run(disk).value() == commit::Commit::waiting);
        REQUIRE(drain_to(disk, 1));
        CHECK(commit_run(disk).value() == commit::Commit::committed);
        CHECK(test::is_whole(disk, "run", snapshot));
    }
}

TEST_CASE("a node that places its rows elsewhere than those before it end: nothing is committed") {
    SimStore disk("run");
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
    const auto outcome = commit_run(disk);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::refused);
    CHECK(outcome.error().text().find("node-00001") != std::string::npos);
    CHECK_FALSE(disk.exists(test::step_directory("run", snapshot)).value());
}
