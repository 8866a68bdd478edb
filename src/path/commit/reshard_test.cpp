// Goal: in any number of node files a snapshot has the same ranks, boxes, rows, bytes and checksums, whatever forms and
// filters it was stored with; stored chunks are passed on; what is damaged is named and not committed; and a crash
// leaves a whole snapshot or none, which the next call makes.
// Method: snapshots that were drained and committed on the simulated disk, read back block by block.

#include "path/commit/reshard.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/marks.hpp"
#include "path/commit/reshard_plan.hpp"
#include "support/crashes.hpp"
#include "support/drained_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::SimStore, test::SmallSnapshot;

namespace {

const std::string run = "run", target = "copy/restart/step-000120";
// Of a rank's part of the field: two are one chunk, and two are a chunk and half of one.
constexpr std::uint64_t fits = 20'000, fits_not = 100'000;

enum class Dealing { in_blocks, round_robin };

/// A node file as test::small_node_file() makes them, but that ranks may be dealt out to nodes round robin, and that
/// the field is smooth, so that zfp can round it.
std::vector<std::byte> node_image(const SmallSnapshot& snapshot, std::uint32_t node, Dealing dealing) {
    std::vector<format::RankPart> parts;
    for (std::uint32_t i = 0; i < test::ranks_per_node; ++i) {
        const auto rank = dealing == Dealing::in_blocks ? node * test::ranks_per_node + i : node + i * snapshot.nodes;
        parts.push_back({rank, {{}, {{{rank, 0}, {1, snapshot.elements_per_rank}}}, {}, {}}, {test::rows_of(rank)}});
    }
    const auto layout = format::plan_layout(test::small_schema(snapshot), parts, {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    const auto words = format::crc_words(layout, image);
    for (const auto& block : layout.blocks) {
        const auto bytes = std::span(image).subspan(block.offset_bytes, block.size_bytes);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 8 + 31 * block.rank);
        for (std::size_t i = 0; block.variable == 1 && i < bytes.size() / sizeof(double); ++i) {
            const double value = std::sin(1e-4 * static_cast<double>(i)) + block.rank;
            std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
        }
        if (block.variable == 0) std::ranges::fill(bytes, std::byte{7});
        for (std::uint64_t i = 0; i < format::segments_of(block.size_bytes); ++i)
            words[block.first_segment + i] = crc32c(bytes.subspan(
                i * limits::segment_bytes, std::min(limits::segment_bytes, bytes.size() - i * limits::segment_bytes)));
    }
    format::seal(layout,
                 {.snapshot_id = snapshot.id,
                  .step = snapshot.step,
                  .time = 60,
                  .sealed_unix_ns = snapshot.sealed_unix_ns + node,
                  .node = node,
                  .nodes = snapshot.nodes,
                  .world_ranks = snapshot.ranks(),
                  .form = format::OwnFile{},
                  .lineage = snapshot.lineage},
                 image);
    return image;
}

void save(SimStore& disk, const SmallSnapshot& snapshot, const Compression& rule,
          Dealing dealing = Dealing::in_blocks) {
    drain::CompressionMemory memory{.rules = {rule, {}}};
    drain::NodeDrain how{.store = &disk, .run = run, .direct = false};
    if (rule.codec != Codec::none) how.compression = &memory;
    disk.make_directories(run + "/forebay").value();
    if (snapshot.lineage.run_id != 0)
        sys::write_text_durable(disk, run + "/forebay/run-0000000000000abc.json", "{}\n").value();
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
        drain::drain_node_file(how, node_image(snapshot, node, dealing), "slot").value();
    test::commit(disk, run, snapshot).value();
}

const std::string source = run + "/restart/step-000120";

Result<> reshard_all(sys::Store& disk, std::uint32_t wished) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(disk, source));
    const auto nodes = commit::node_files_of(manifest, wished);
    const commit::Resharding what{
        .store = &disk, .source = source, .manifest = manifest, .directory = target, .nodes = nodes};
    FB_TRY(disk.make_directories(target));
    FB_TRY(commit::remove_stale(what));
    for (auto node = nodes; node-- > 0;) FB_TRY(commit::write_node_file(what, node));
    return commit::commit_resharded(what);
}

/// One block, wherever it lies: its box but for the rows before it in its file, its bytes, and its checksums.
struct Content {
    Box box;
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> words;
    friend bool operator==(const Content&, const Content&) = default;
};
using Contents = std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, Content>;

/// By variable, rank and place among the rank's blocks; of replicated variables that of node 0.
Contents contents_of(SimStore& disk, const std::string& directory) {
    Contents contents;
    catalog::BlockReader::Scratch scratch;
    const auto manifest = catalog::load_manifest(disk, directory).value();
    for (const auto& line : manifest.nodes) {
        const auto reader = catalog::BlockReader::open(disk, directory, line).value();
        const auto& head = reader.head();
        for (std::size_t b = 0; b < head.blocks.size(); ++b) {
            const auto& block = head.blocks[b];
            const auto kind = head.schema.variables[block.variable].kind;
            if (kind == Kind::replicated && line.node != 0) continue;
            Content content{block.box, std::vector<std::byte>(block.size_bytes), {}};
            if (kind == Kind::particles) content.box.lo[0] = 0;
            reader.read(b, 0, content.bytes, scratch).value();
            for (std::uint64_t i = 0; i < format::segments_of(block.size_bytes); ++i)
                content.words.push_back(head.crc32c[block.first_segment + i]);
            std::size_t i = 0;
            while (contents.contains({block.variable, block.rank, i})) ++i;
            contents.emplace(std::tuple(block.variable, block.rank, i), std::move(content));
        }
    }
    return contents;
}

bool is_whole(SimStore& disk) {
    const auto verified = catalog::verify(disk, {"restart", 120, target}, {});
    return verified && verified->damage.empty();
}

void check_equal(SimStore& disk, std::uint32_t wished) {
    CAPTURE(wished);
    disk.remove_tree("copy").value();
    reshard_all(disk, wished).value();
    CHECK(is_whole(disk));
    CHECK((contents_of(disk, target) == contents_of(disk, source)));
    const auto before = catalog::load_manifest(disk, source).value(),
               after = catalog::load_manifest(disk, target).value();
    CHECK(after.nodes.size() == std::min(wished, before.world_ranks));
    CHECK(after.snapshot_id == before.snapshot_id);
    CHECK(after.sealed_unix_ns == before.sealed_unix_ns);
    CHECK((after.lineage == before.lineage));
    CHECK(after.time == before.time);
    CHECK(after.world_ranks == before.world_ranks);
    CHECK((after.schema == before.schema));
}

/// The chunks of the field that are stored, node after node.
std::vector<format::Chunk> chunks_of(SimStore& disk, const std::string& directory, std::uint16_t* filter = nullptr) {
    std::vector<format::Chunk> chunks;
    const auto manifest = catalog::load_manifest(disk, directory).value();
    for (const auto& line : manifest.nodes) {
        const auto reader = catalog::BlockReader::open(disk, directory, line).value();
        const auto& table = reader.head().chunk_table;
        if (filter != nullptr) *filter = table.variables[1].filter;
        for (const auto& chunk : table.chunks)
            if (chunk.variable == 1) chunks.push_back(chunk);
    }
    return chunks;
}

std::size_t passed_on(SimStore& disk) {
    const auto before = chunks_of(disk, source), after = chunks_of(disk, target);
    return static_cast<std::size_t>(std::ranges::count_if(after, [&](const format::Chunk& chunk) {
        return std::ranges::any_of(before, [&](const format::Chunk& one) {
            return one.crc32c == chunk.crc32c && one.stored_bytes == chunk.stored_bytes && one.filtered &&
                   chunk.filtered;
        });
    }));
}

const SmallSnapshot with_lines{.nodes = 3,
                               .lineage = {.run_id = 0xabc, .save = 7, .lines = {{{1, 0}, -1}, {{3, 1}, 40}}}};

}  // namespace

TEST_CASE("ranks are dealt out in equal runs, or node files are put together") {
    format::Manifest manifest{.world_ranks = 20, .schema = {}, .shapes = {}, .nodes = {}};
    for (std::uint32_t node = 0; node < 10; ++node)
        manifest.nodes.push_back({.node = node, .path = {}, .ranks = {{2 * node, 2}}, .rows = {}, .bounds = {}});
    std::vector<std::size_t> lines;
    for (std::uint32_t node = 0; node < 4; ++node) lines.push_back(commit::shares_of(manifest, 4, node).size());
    CHECK((lines == std::vector<std::size_t>{2, 3, 2, 3}));
    // 13 files of 20 ranks: the second has rank 1 of the first node and rank 2 of the second.
    const auto shares = commit::shares_of(manifest, 13, 1);
    REQUIRE(shares.size() == 2);
    CHECK((shares[0].ranks == std::vector<std::uint32_t>{1}));
    CHECK((shares[1].ranks == std::vector<std::uint32_t>{2}));
    CHECK(commit::node_files_of(manifest, 64) == 20);
}

TEST_CASE("in any number of node files a snapshot is the same, from files of any form") {
    for (const auto per_file : {1u, 2u, test::all_in_one}) {
        CAPTURE(per_file);
        SimStore disk;
        test::drain_and_commit(disk, run, {.nodes = 5, .nodes_per_file = per_file}).value();
        for (const auto wished : {1u, 2u, 3u, 4u, 5u, 7u, 10u, 100u}) check_equal(disk, wished);
    }
}

TEST_CASE("ranks that were dealt out round robin, and the place in the history of the run") {
    SimStore disk;
    save(disk, with_lines, {}, Dealing::round_robin);
    for (const auto wished : {1u, 2u, 4u, 6u}) check_equal(disk, wished);
}

TEST_CASE("compressed node files, whether their chunks fit or not") {
    for (const auto elements : {fits, fits_not}) {
        for (const auto& rule : {Compression{.codec = Codec::zstd, .level = 3}, Compression{.codec = Codec::lz4},
                                 Compression{.codec = Codec::zfp}, Compression{.codec = Codec::zfp, .error = 1e-3}}) {
            CAPTURE(elements);
            CAPTURE(static_cast<int>(rule.codec));
            CAPTURE(rule.error);
            SimStore disk;
            save(disk, {.nodes = 3, .elements_per_rank = elements}, rule,
                 elements == fits ? Dealing::in_blocks : Dealing::round_robin);
            for (const auto wished : {1u, 2u, 4u}) check_equal(disk, wished);
        }
    }
}

TEST_CASE("chunks are passed on as they are stored where they lie as before") {
    SimStore disk;
    save(disk, {.nodes = 4, .elements_per_rank = fits}, {.codec = Codec::zstd, .level = 3});
    reshard_all(disk, 2).value();
    CHECK(chunks_of(disk, target).size() == 4);
    CHECK(passed_on(disk) == 4);
}

TEST_CASE("what zfp has rounded is not rounded again") {
    for (const auto elements : {fits, fits_not}) {
        SimStore disk;
        save(disk, {.nodes = 4, .elements_per_rank = elements}, {.codec = Codec::zfp, .error = 1e-3});
        reshard_all(disk, 2).value();
        std::uint16_t filter = 0;
        const auto chunks = chunks_of(disk, target, &filter);
        CHECK(filter == (elements == fits ? codec::zfp_id : codec::blosc_id));
        CHECK(passed_on(disk) == (elements == fits ? 4 : 0));
        for (const auto& chunk : chunks) CHECK(chunk.filtered);
    }
}

TEST_CASE("a chunk or a segment that is damaged is named, and nothing is committed") {
    for (const auto codec : {Codec::none, Codec::zstd}) {
        SimStore disk;
        save(disk, {.nodes = 2, .elements_per_rank = fits}, {.codec = codec, .level = 3});
        const auto manifest = catalog::load_manifest(disk, source).value();
        const auto reader = catalog::BlockReader::open(disk, source, manifest.nodes[1]).value();
        const auto at =
            codec == Codec::none ? reader.head().extents[1].offset_bytes : chunks_of(disk, source)[1].stored_offset;
        const auto file = disk.open(source + "/" + manifest.nodes[1].path, sys::Access::update).value();
        std::vector<std::byte> byte(1);
        file->read(at + 99, byte).value();
        byte[0] ^= std::byte{1};
        file->write(at + 99, byte).value();
        const auto done = reshard_all(disk, 1);
        REQUIRE_FALSE(done.has_value());
        CHECK(done.error().kind == ErrorKind::corrupt);
        CHECK(done.error().what.find("node-00001.h5") != std::string::npos);
        CHECK(done.error().what.find("fields/density") != std::string::npos);
        CHECK_FALSE(disk.exists(target + "/manifest.json").value());
        CHECK_FALSE(disk.exists(target + "/node-00000.h5").value());
        CHECK_FALSE(disk.exists(target + "/node-00000.h5.tmp").value());
    }
}

TEST_CASE("a target without room says so, and what it gets later is whole") {
    SimStore before;
    save(before, {.nodes = 3, .elements_per_rank = fits}, {.codec = Codec::zstd, .level = 3});
    before.make_directories(target).value();
    for (int nth = 0; nth < 6; ++nth) {
        const auto disk = before.clone();
        disk->fail(test::Op::write, nth, {ErrorKind::full, "No space left on device"});
        const auto done = reshard_all(*disk, 2);
        REQUIRE_FALSE(done.has_value());
        CHECK(done.error().kind == ErrorKind::full);
        CHECK_FALSE(disk->exists(target + "/manifest.json").value());
        reshard_all(*disk, 2).value();
        CHECK(is_whole(*disk));
    }
}

TEST_CASE("marks come along") {
    SimStore disk;
    save(disk, with_lines, {});
    const format::Mark mark{.analysis = "numbers", .condition = "*/nan > 0", .result = "rho/nan", .value = 3};
    catalog::mark(disk, {run, "restart", 120, 0xf3}, {&mark, 1}).value();
    reshard_all(disk, 1).value();
    CHECK((catalog::load_manifest(disk, target).value().marks == std::vector{mark}));
}

TEST_CASE("what a killed call has made is kept, unless it was for another number of files") {
    SimStore disk;
    save(disk, {.nodes = 3}, {});
    const auto manifest = catalog::load_manifest(disk, source).value();
    disk.make_directories(target).value();
    for (const auto nodes : {2u, 6u}) {
        disk.remove_tree(target).value();
        disk.make_directories(target).value();
        const commit::Resharding what{
            .store = &disk, .source = source, .manifest = manifest, .directory = target, .nodes = nodes};
        commit::write_node_file(what, nodes - 1).value();
        const auto renames = disk.calls(test::Op::rename);
        reshard_all(disk, 2).value();  // its node files, and the manifest
        CHECK(disk.calls(test::Op::rename) - renames == (nodes == 2 ? 1 : 2) + 1);
        CHECK(is_whole(disk));
        CHECK(disk.list(target).value().size() == 3);
    }
}

TEST_CASE("a crash at any operation leaves a whole snapshot or none, and the next call makes it") {
    SimStore before;
    save(before, with_lines, {});
    before.make_directories(target).value();
    before.settle();
    const auto expected = contents_of(before, source);
    test::crash_at_each(
        before, test::reboots(7), [](SimStore& disk) { return reshard_all(disk, 2); },
        [&](SimStore& disk, const Result<>& answer) {
            const bool is_there = disk.exists(target + "/manifest.json").value();
            if (answer) CHECK(is_there);
            if (is_there) CHECK(is_whole(disk));
            reshard_all(disk, 2).value();
            CHECK(is_whole(disk));
            CHECK((contents_of(disk, target) == expected));
        });
}
