// Goal: a reader returns a block's bytes as the application gave them, or an error; it reads drained files of each kind
// and the image of a slot; damage in one segment does not hide the other segments.
// Method: a small snapshot with three segments a rank in its field, committed on the simulated disk as files of each
// node, plain and compressed, in a file of several nodes and in a shared file; damage by a flip.

#include <doctest/doctest.h>

#include "path/catalog/block_reader.hpp"

#include <algorithm>

#include "core/base/limits.hpp"
#include "support/drained_run.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using catalog::BlockReader;
using test::SimStore;

namespace {

constexpr std::uint64_t field_bytes = 2 * limits::segment_bytes + 4096;
constexpr std::size_t field = 1;  // of small_schema()

test::SmallSnapshot snapshot_in(std::uint32_t nodes_per_file) {
    return {.nodes = 2, .elements_per_rank = field_bytes / 8, .nodes_per_file = nodes_per_file};
}

struct Run {
    explicit Run(const test::SmallSnapshot& of, Codec codec = Codec::none)
        : snapshot(of), directory(test::step_directory("run", of)) {
        test::drain_and_commit(disk, "run", snapshot, codec).value();
        manifest = catalog::load_manifest(disk, directory).value();
    }
    Result<BlockReader> open(std::uint32_t node) { return BlockReader::open(disk, directory, manifest.nodes[node]); }

    SimStore disk;
    test::SmallSnapshot snapshot;
    std::string directory;
    format::Manifest manifest;
};

std::span<const std::byte> of_block(std::span<const std::byte> image, const format::Block& block) {
    return image.subspan(block.offset_bytes, block.size_bytes);
}

// Every block equals the image, read whole and by windows of one and of two segments.
void check_all(const BlockReader& reader, std::span<const std::byte> image) {
    const auto staged = format::open_head(image, "slot").value();
    BlockReader::Scratch scratch;
    for (std::size_t b = 0; b < staged.blocks.size(); ++b) {
        if (!reader.head().stores(staged.blocks[b].variable)) continue;
        const auto expected = of_block(image, staged.blocks[b]);
        for (const std::uint64_t window : {limits::segment_bytes, 2 * limits::segment_bytes}) {
            std::vector<std::byte> bytes(expected.size());
            for (std::uint64_t at = 0; at < bytes.size(); at += window)
                reader.read(b, at, std::span(bytes).subspan(at, std::min(window, bytes.size() - at)), scratch).value();
            CHECK(std::ranges::equal(bytes, expected));
        }
    }
    std::vector<std::byte> buffer;
    for (std::size_t b = 0; b < staged.blocks.size(); ++b) {
        if (!reader.head().stores(staged.blocks[b].variable)) continue;
        std::vector<std::byte> bytes;
        for (std::uint64_t i = 0; i < format::segments_of(staged.blocks[b].size_bytes); ++i)
            std::ranges::copy(reader.segment(b, i, buffer, scratch).value(), std::back_inserter(bytes));
        CHECK(std::ranges::equal(bytes, of_block(image, staged.blocks[b])));
    }
    const auto segments = format::segments_by_offset(reader.head());
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        if (segments[i].block != segments[i + 1].block) continue;
        std::vector<std::byte> bytes(segments[i].bytes + segments[i + 1].bytes);
        reader.read(std::span(segments).subspan(i, 2), bytes, scratch).value();
        const auto at = segments[i].offset - staged.blocks[segments[i].block].offset_bytes;
        CHECK(std::ranges::equal(bytes, of_block(image, staged.blocks[segments[i].block]).subspan(at, bytes.size())));
    }
}

}  // namespace

TEST_CASE("the blocks of a drained file and of an image are those that were given") {
    struct Case {
        std::uint32_t nodes_per_file;
        Codec codec;
    };
    for (const auto& example :
         {Case{1, Codec::none}, Case{1, Codec::zstd}, Case{2, Codec::none}, Case{test::all_in_one, Codec::none}}) {
        CAPTURE(example.nodes_per_file);
        CAPTURE(static_cast<int>(example.codec));
        Run run(snapshot_in(example.nodes_per_file), example.codec);
        for (std::uint32_t node = 0; node < 2; ++node) {
            const auto image = test::small_node_file(run.snapshot, node);
            check_all(run.open(node).value(), image);
            check_all(BlockReader::over(format::open_head(image, "slot").value(), image, "slot"), image);
        }
        const auto image = test::small_node_file(run.snapshot, 0);
        const auto reader = run.open(0).value();
        const auto clock = of_block(image, reader.head().blocks[reader.head().first_block[0]]);
        CHECK(std::ranges::equal(reader.value(0).value(), clock));
    }
}

TEST_CASE("damage in one segment is told, with its bytes, and the others are given out") {
    Run run(snapshot_in(1));
    auto image = test::small_node_file(run.snapshot, 0);
    const auto head = format::open_head(image, "slot").value();
    const auto block = head.first_block[field];
    const auto wrong = head.blocks[block].offset_bytes + limits::segment_bytes + 17;
    const auto path = run.directory + "/" + run.manifest.nodes[0].path;
    const auto file = run.disk.open(path, sys::Access::update).value();
    image[wrong] ^= std::byte{1};
    file->write(wrong, std::span(image).subspan(wrong, 1)).value();
    const auto drained = run.open(0).value();
    const auto slot = BlockReader::over(head, image, "slot");
    for (const auto* reader : {&drained, &slot}) {
        BlockReader::Scratch scratch;
        std::vector<std::byte> bytes(field_bytes);
        const auto all = reader->read(block, 0, bytes, scratch);
        REQUIRE_FALSE(all.has_value());
        CHECK(all.error().kind == ErrorKind::corrupt);
        CHECK(all.error().what.find("variable \"fields/density\" of rank 0 in " + reader->name()) != std::string::npos);
        const auto last = head.blocks[block].offset_bytes + 2 * limits::segment_bytes - 1;
        CHECK(all.error().what.find("-" + std::to_string(last)) != std::string::npos);
        const auto whole = std::span(bytes);
        CHECK(reader->read(block, 0, whole.first(limits::segment_bytes), scratch));
        CHECK(reader->read(block, 2 * limits::segment_bytes, whole.first(4096), scratch));
    }
}

TEST_CASE("what is not whole segments is refused, and a file that is not the manifest's is not read") {
    Run run(snapshot_in(1));
    const auto reader = run.open(0).value();
    const auto block = reader.head().first_block[field];
    BlockReader::Scratch scratch;
    std::vector<std::byte> bytes(field_bytes + 1);
    const auto kind_of = [&](std::uint64_t at, std::uint64_t size) {
        const auto read = reader.read(block, at, std::span(bytes).first(size), scratch);
        return read ? std::string("read") : std::string(read.error().kind == ErrorKind::broken ? "broken" : "else");
    };
    CHECK(kind_of(0, 0) == "read");
    CHECK(kind_of(field_bytes, 0) == "broken");
    CHECK(kind_of(0, 4096) == "broken");
    CHECK(kind_of(4096, limits::segment_bytes) == "broken");
    CHECK(kind_of(0, field_bytes + 1) == "broken");
    CHECK(kind_of(4 * limits::segment_bytes, limits::segment_bytes) == "broken");

    auto line = run.manifest.nodes[0];
    line.record_crc32c ^= 1;
    const auto other = BlockReader::open(run.disk, run.directory, line);
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().kind == ErrorKind::corrupt);
    const auto image = test::small_node_file(run.snapshot, 0);
    const auto cut = BlockReader::over(reader.head(), std::span(image).first(image.size() / 2), "slot");
    CHECK(cut.read(block + 1, 0, std::span(bytes).first(field_bytes), scratch).error().kind == ErrorKind::corrupt);
}
