// Goal: on machines that cache their reads, nothing is read into a cache before its writer is done, in any form and by
// any reader; if only a machine's cache is wrong for a committed snapshot, the bytes are read again from storage.
// Method: two caching clients of one simulated disk; no client notices the other's writes.

#include <doctest/doctest.h>

#include "core/base/page_buffer.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/drain/node_drain.hpp"
#include "support/caching_store.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::CachingStore;
using test::SimStore;
using test::SmallSnapshot;

namespace {

SmallSnapshot snapshot_of(std::uint32_t nodes_per_file) {
    return {.nodes = 4, .elements_per_rank = 5'000, .nodes_per_file = nodes_per_file};
}

void bring(sys::Store& store, const SmallSnapshot& snapshot, std::uint32_t node, bool direct) {
    const drain::NodeDrain how{
        .store = &store, .run = "run", .write = {.block_bytes = 65536, .in_flight = 1}, .direct = direct};
    const auto image = test::small_node_file(snapshot, node);
    PageBuffer pages;
    std::ranges::copy(image, pages.take(image.size()).begin());
    REQUIRE(drain::drain_node_file(how, pages.take(image.size()), "slot"));
}

catalog::Verified verified(sys::Store& store, const SmallSnapshot& snapshot) {
    return catalog::verify(store, {snapshot.stream, snapshot.step, test::step_directory("run", snapshot)}, {}).value();
}

std::vector<std::string> files_of(const SimStore& disk, const SmallSnapshot& snapshot) {
    auto paths = disk.paths();
    const auto prefix = test::step_directory("run", snapshot) + "/node";
    const auto shared = test::step_directory("run", snapshot) + "/shared.h5";
    std::erase_if(paths, [&](const auto& path) { return !path.starts_with(prefix) && path != shared; });
    return paths;
}

}  // namespace

TEST_CASE("what is looked at while it comes is not kept: committed, it is right for every client") {
    for (const std::uint32_t nodes_per_file : {1u, 2u, 3u, test::all_in_one})
        for (const bool direct : {false, true}) {
            CAPTURE(nodes_per_file);
            CAPTURE(direct);
            const auto snapshot = snapshot_of(nodes_per_file);
            const auto part = test::part_directory("run", snapshot);
            SimStore disk("run");
            disk.support_direct(direct);
            CachingStore first(disk), second(disk);
            for (const std::uint32_t node : {1u, 3u, 0u, 2u}) {
                bring(node % 2 == 0 ? first : second, snapshot, node, direct);
                for (auto* client : {&second, &first}) {
                    CHECK(test::look_at_part(*client, "run", snapshot));  // as `ls` and `recover` do
                    bring(*client, snapshot, node, direct);               // is it there?
                    if (node == 2) continue;
                    CHECK(test::commit(*client, "run", snapshot).value() == commit::Commit::waiting);
                }
            }
            CHECK(test::commit(first, "run", snapshot).value() == commit::Commit::committed);
            second.moved(part, test::step_directory("run", snapshot));
            for (const auto& path : files_of(disk, snapshot)) {
                CAPTURE(path);
                CHECK_FALSE(first.keeps(path));
                CHECK_FALSE(second.keeps(path));
            }
            for (auto* client : {&first, &second}) {
                const auto result = verified(*client, snapshot);
                CHECK(result.damage.empty());
                CHECK(result.healed == 0);
            }
        }
}

TEST_CASE("what only a machine's cache has wrong is healed; what storage has wrong is damage") {
    for (const std::uint32_t nodes_per_file : {1u, 2u, test::all_in_one}) {
        const auto snapshot = snapshot_of(nodes_per_file);
        SimStore disk("run");
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node) bring(disk, snapshot, node, false);
        REQUIRE(test::commit(disk, "run", snapshot));
        const auto path = files_of(disk, snapshot).front();
        const auto manifest = catalog::load_manifest(disk, test::step_directory("run", snapshot)).value();
        const auto head =
            catalog::BlockReader::open(disk, test::step_directory("run", snapshot), manifest.nodes.front())
                .value()
                .head();
        std::uint64_t data = head.blocks[head.first_block[1]].offset_bytes;
        if (nodes_per_file == test::all_in_one) data = head.extents[1].shared_offset_bytes;
        else data += manifest.nodes.front().offset_bytes;
        // The record of the first node, the rest of its head, its data, and the head for HDF5 programs.
        for (const auto at : {manifest.nodes.front().offset_bytes + 4100, manifest.nodes.front().offset_bytes + 8200,
                              data, std::uint64_t{8}}) {
            if (at == 8 && nodes_per_file == 1) continue;  // it is in no segment, and no head shows it again
            CAPTURE(nodes_per_file);
            CAPTURE(at);
            CachingStore client(disk);
            const auto flip = [&] {
                auto file = disk.open(path, sys::Access::update).value();
                std::array<std::byte, 1> byte{};
                REQUIRE(file->read(at, byte));
                byte[0] ^= std::byte{0x10};
                REQUIRE(file->write(at, byte));
            };
            flip();
            const auto damaged = verified(client, snapshot);
            CHECK(damaged.damage.size() >= 1);
            CHECK(damaged.healed == 0);
            std::vector<std::byte> all(disk.peek(path)->size());
            REQUIRE(client.open(path, sys::Access::read).value()->read(0, all));  // another program
            flip();
            const auto healed = verified(client, snapshot);
            CHECK(healed.damage.empty());
            CHECK(healed.healed >= 1);
            CHECK(verified(client, snapshot).healed == 0);
            if (at == 8) continue;
            flip();
            REQUIRE(client.open(path, sys::Access::read).value()->read(0, all));
            flip();
            CHECK(catalog::check_whole(client, test::step_directory("run", snapshot), manifest));
            REQUIRE(client.open(path, sys::Access::read).value()->read(0, all));
            const auto reader =
                catalog::BlockReader::open(client, test::step_directory("run", snapshot), manifest.nodes.front());
            REQUIRE(reader);
            std::vector<std::byte> block(head.blocks[head.first_block[1]].size_bytes);
            catalog::BlockReader::Scratch scratch;
            CHECK(reader->read(head.first_block[1], 0, block, scratch));
        }
    }
}
