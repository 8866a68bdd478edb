// Goal: blocks are read once, in windows, in the order of their source. The written snapshot is committed whole, and
// after an error of the source nothing is left. (Crashes: foreign/import_snapshot_test, agent/pack_test.) Method: a
// source that notes its calls, on the simulated disk.

#include "path/commit/write_snapshot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "core/base/limits.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using test::SimStore;

namespace {

constexpr std::uint64_t field_bytes = 9 * limits::segment_bytes + 8;  // more than a window

/// Each byte follows from its position in the block and the block's number. The last block comes first.
class Source final : public commit::Blocks {
public:
    void sort(std::vector<std::size_t>& blocks) const override { std::ranges::reverse(blocks); }
    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) override {
        if (fails_at == block && at + to.size() > limits::segment_bytes)
            return Error{ErrorKind::corrupt, "the source is damaged"};
        asked.push_back({block, at, to.size()});
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = byte_of(block, at + i);
        return {};
    }
    static std::byte byte_of(std::size_t block, std::uint64_t at) {
        return static_cast<std::byte>(at + at / limits::segment_bytes + 31 * block);
    }

    struct Asked {
        std::size_t block;
        std::uint64_t at, bytes;
        friend bool operator==(const Asked&, const Asked&) = default;
    };
    std::vector<Asked> asked;
    std::optional<std::size_t> fails_at;
};

// Two ranks: a clock, on each rank a field of a bit more than one window, and a table without rows on the second rank.
format::Layout layout_of() { return test::small_layout({.elements_per_rank = field_bytes / 8}, 0); }

const commit::Destination to{.run = "runs/run7", .stream = "restart", .step = 120, .time = 0.5};

}  // namespace

TEST_CASE("blocks are asked for once, in their source's order, and committed as they were given") {
    SimStore disk;
    REQUIRE(disk.make_directories("runs"));
    const auto layout = layout_of();
    Source source;
    std::uint64_t last = 0;
    const auto directory = commit::write_snapshot(disk, to, layout, source, [&](std::uint64_t done, std::uint64_t all) {
                               CHECK(done > last);
                               CHECK(done <= all);
                               last = done;
                           }).value();
    std::vector<Source::Asked> expected;
    for (auto b = layout.blocks.size(); b-- > 0;) {
        const auto bytes = layout.blocks[b].size_bytes;
        if (bytes == 0) expected.push_back({b, 0, 0});
        for (std::uint64_t at = 0; at < bytes; at += 8 * limits::segment_bytes)
            expected.push_back({b, at, std::min(bytes - at, 8 * limits::segment_bytes)});
    }
    CHECK(source.asked == expected);
    CHECK(directory == "runs/run7/restart/step-000120");
    const auto manifest = catalog::load_manifest(disk, directory).value();
    CHECK(manifest.time == 0.5);
    CHECK(manifest.world_ranks == 2);
    const auto reader = catalog::BlockReader::open(disk, directory, manifest.nodes.front()).value();
    catalog::BlockReader::Scratch scratch;
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
        std::vector<std::byte> bytes(layout.blocks[b].size_bytes);
        reader.read(b, 0, bytes, scratch).value();
        bool equal = true;
        for (std::size_t i = 0; i < bytes.size(); ++i) equal = equal && bytes[i] == Source::byte_of(b, i);
        CHECK(equal);
    }
}

TEST_CASE("an error of the source ends the writing and leaves nothing") {
    SimStore disk;
    REQUIRE(disk.make_directories("runs"));
    const auto layout = layout_of();
    Source source;
    source.fails_at = layout.first_block[1];
    const auto written = commit::write_snapshot(disk, to, layout, source, {});
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().kind == ErrorKind::corrupt);
    CHECK(catalog::snapshots(disk, to.run, to.stream).value().empty());
    CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
}

TEST_CASE("a step that no snapshot can have is refused before anything is read or written") {
    SimStore disk;
    REQUIRE(disk.make_directories("runs"));
    Source source;
    auto outside = to;
    outside.step = -1;
    CHECK(commit::write_snapshot(disk, outside, layout_of(), source, {}).error().kind == ErrorKind::refused);
    CHECK(source.asked.empty());
    CHECK_FALSE(disk.exists(to.run).value());
}

TEST_CASE("a replacing snapshot is later than the replaced save, whatever ids and clocks say") {
    const format::Lineage joined{.run_id = 0, .save = 0, .lines = {{{1, 0}, -1}}};
    for (const auto& before :
         {format::Lineage{}, joined, format::Lineage{.run_id = 0, .save = 7, .lines = joined.lines}})
        for (const bool of_source : {false, true}) {
            CAPTURE(before.save);
            CAPTURE(of_source);
            SimStore disk;
            REQUIRE(disk.make_directories("runs"));
            Source source;
            auto first = to;
            first.lineage = before;
            REQUIRE(commit::write_snapshot(disk, first, layout_of(), source, {}));
            auto own = to;
            own.replaces = true;
            if (of_source) own.lineage = before;
            // A random order of ids would refuse half of these.
            for (int again = 1; again <= 20; ++again) {
                own.time = again;
                const auto written = commit::write_snapshot(disk, own, layout_of(), source, {});
                REQUIRE(written.has_value());
                const auto manifest = catalog::load_manifest(disk, *written).value();
                CHECK(manifest.time == again);
                CHECK(manifest.lineage.line() == before.line());
                CHECK(manifest.lineage.save == before.save);
            }
            CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
        }
}

TEST_CASE("a replacing snapshot of an earlier save leaves what a later save of its line has committed") {
    SimStore disk;
    REQUIRE(disk.make_directories("runs"));
    Source source;
    auto first = to;
    first.lineage = format::Lineage{.run_id = 0, .save = 7, .lines = {{{1, 0}, -1}}};
    REQUIRE(commit::write_snapshot(disk, first, layout_of(), source, {}));
    auto earlier = first;
    earlier.replaces = true;
    earlier.lineage->save = 6;
    earlier.time = 1.5;
    const auto written = commit::write_snapshot(disk, earlier, layout_of(), source, {});
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().kind == ErrorKind::refused);
    CHECK(catalog::load_manifest(disk, "runs/run7/restart/step-000120").value().time == to.time);
    CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
}

TEST_CASE("what somebody else has committed since it was looked for stays, unless it was to be replaced") {
    for (const bool replaces : {false, true}) {
        CAPTURE(replaces);
        SimStore disk;
        REQUIRE(disk.make_directories("runs"));
        Source source;
        REQUIRE(commit::write_snapshot(disk, to, layout_of(), source, {}));
        auto own = to;
        own.replaces = replaces;
        own.time = 1.5;
        const auto written = commit::write_snapshot(disk, own, layout_of(), source, {});
        const auto manifest = catalog::load_manifest(disk, "runs/run7/restart/step-000120").value();
        CHECK(written.has_value() == replaces);
        if (!replaces) CHECK(written.error().kind == ErrorKind::refused);
        CHECK(manifest.time == (replaces ? own.time : to.time));
        CHECK(catalog::leftovers(disk, to.run, to.stream).value().empty());
    }
}
