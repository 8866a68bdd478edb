// Goal: a compressed node file has the staged content for any borders of blocks, segments and chunks; each of its bytes
// is checked; it appears like a plain file: whole or absent, after a crash or a fault at any operation.
// Method: a real node file onto the simulated disk, under several rules; damage by a flip in every chunk.

#include <doctest/doctest.h>
#include <sched.h>

#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "core/base/try.hpp"
#include "core/format/segments.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/catalog/plain_bytes.hpp"
#include "path/drain/compress.hpp"
#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/large_node_file.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::Op;
using test::SimStore;

namespace {

const auto image = test::large_node_file();
const auto staged = format::open_head(image, "slot").value();
const std::string part = "run/restart/" + catalog::part_name(120, 0xf3);
const std::string path = part + "/node-00000.h5";
constexpr std::uint64_t stored_size_max = 3u << 20;  // of the 5 MiB, 0.3 of it noise

const node::CompressionRules zstd{{.codec = Codec::zstd}, {}};
const node::CompressionRules mixed{{.codec = Codec::automatic, .shuffle = Shuffle::bits},
                                   {{"fields/u", {.codec = Codec::zfp, .error = 1e-4}},
                                    {"fields/f", {.codec = Codec::zfp}},
                                    {"gas/x", {.codec = Codec::none}},
                                    {"gas/label", {.codec = Codec::lz4, .level = 9}}}};

struct Drainer {
    drain::CompressionMemory memory;
    std::uint64_t stored_bytes = 0;
    std::atomic<std::uint64_t> done_bytes{0};
    std::string log;

    Result<> drain(sys::Store& disk, std::span<const std::byte> from, int in_flight = 3) {
        return drain::drain_node_file({.store = &disk,
                                       .run = "run",
                                       .write = {.block_bytes = 4096, .in_flight = in_flight},
                                       .done_bytes = &done_bytes,
                                       .stored_bytes = &stored_bytes,
                                       .compression = &memory,
                                       .log = [this](const std::string& text) { log += text; }},
                                      from, "slot");
    }
};

Result<> drain_to(sys::Store& disk, const node::CompressionRules& rules, std::span<const std::byte> from = image) {
    Drainer drainer{.memory = {.rules = rules}};
    return drainer.drain(disk, from);
}

/// Records the threads that write.
class WriterStore final : public test::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<std::unique_ptr<sys::File>> open(const std::string& name, sys::Access access) override {
        FB_TRY_ASSIGN(file, PassingStore::open(name, access));
        return std::unique_ptr<sys::File>(std::make_unique<File>(std::move(file), *this));
    }
    std::set<std::thread::id> writers;

private:
    class File final : public test::PassingFile {
    public:
        File(std::unique_ptr<sys::File> file, WriterStore& store) : PassingFile(std::move(file)), store_(store) {}
        Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
            {
                const std::lock_guard lock(store_.mutex_);
                store_.writers.insert(std::this_thread::get_id());
            }
            return PassingFile::write(offset, bytes);
        }

    private:
        WriterStore& store_;
    };
    std::mutex mutex_;
};

/// The calling thread and the threads that it starts.
bool pin_to_one_cpu() {
    cpu_set_t single;
    CPU_ZERO(&single);
    CPU_SET(::sched_getcpu(), &single);
    return ::sched_setaffinity(0, sizeof single, &single) == 0;
}

struct Opened {
    std::unique_ptr<sys::File> file;
    format::NodeFile head;
};

Opened open_packed(sys::Store& disk) {
    auto reader = catalog::NodeReader::open(disk, path).value();
    return {disk.open(path, sys::Access::read).value(), reader.head().value()};
}

/// The largest difference from the staged elements of one variable. A wrong checksum fails the test.
template <class T>
double largest_error(const Opened& compressed, std::size_t v) {
    const auto& extent = compressed.head.extents[v];
    std::vector<std::byte> bytes(extent.used_bytes);
    catalog::PlainBytes::Scratch scratch;
    catalog::PlainBytes(*compressed.file, compressed.head, path).read(extent.offset_bytes, bytes, scratch).value();
    double largest = 0;
    for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(T))
        largest = std::max(largest, std::abs(static_cast<double>(load_le<T>(bytes.data() + at)) -
                                             static_cast<double>(load_le<T>(image.data() + extent.offset_bytes + at))));
    return largest;
}

void check_segments(const Opened& compressed) {
    catalog::PlainBytes::Scratch scratch;
    const catalog::PlainBytes plain(*compressed.file, compressed.head, path);
    for (const auto& segment : format::segments_by_offset(compressed.head)) {
        std::vector<std::byte> bytes(segment.bytes);
        plain.read(segment.offset, bytes, scratch).value();
        CHECK(format::check_segment(compressed.head, segment, bytes, path));
    }
}

}  // namespace

TEST_CASE("a compressed file is smaller, says what it was drained from, and reads back bit for bit, in any pieces") {
    SimStore disk("run");
    Drainer drainer{.memory = {.rules = zstd}};
    REQUIRE(drainer.drain(disk, image));
    const auto compressed = open_packed(disk);
    CHECK(compressed.head.file_bytes == disk.peek(path)->size());
    CHECK(compressed.head.file_bytes < stored_size_max);
    CHECK(compressed.head.staged_crc32c == staged.record_crc32c);
    CHECK(compressed.head.plain_bytes == staged.file_bytes);
    CHECK(compressed.head.blocks == staged.blocks);
    CHECK(compressed.head.crc32c == staged.crc32c);
    check_segments(compressed);
    std::uint64_t used = 0;
    for (const auto& extent : staged.extents) used += extent.used_bytes;
    CHECK(drainer.done_bytes == used);
    CHECK(drainer.stored_bytes <= compressed.head.file_bytes);
    CHECK(drainer.log.find("zstd 1 of") != std::string::npos);

    const catalog::PlainBytes plain(*compressed.file, compressed.head, path);
    catalog::PlainBytes::Scratch scratch;
    std::mt19937_64 random(3);
    for (int i = 0; i < 200; ++i) {
        const auto& extent = compressed.head.extents[1 + random() % 6];
        const auto from = random() % extent.used_bytes;
        std::vector<std::byte> bytes(1 + random() % std::min<std::uint64_t>(extent.used_bytes - from, 3u << 20));
        plain.read(extent.offset_bytes + from, bytes, scratch).value();
        CHECK(std::memcmp(bytes.data(), image.data() + extent.offset_bytes + from, bytes.size()) == 0);
    }
}

TEST_CASE(
    "each variable is stored by its own rule; what loses something stays within its bound and is checked as it "
    "decodes") {
    SimStore disk("run");
    REQUIRE(drain_to(disk, mixed));
    const auto compressed = open_packed(disk);
    check_segments(compressed);
    CHECK(largest_error<double>(compressed, 1) > 0);
    CHECK(largest_error<double>(compressed, 1) <= 1e-4);
    for (const std::size_t v : {2u, 5u}) CHECK(largest_error<float>(compressed, v) == 0);
    CHECK(largest_error<std::int64_t>(compressed, 4) == 0);
    const auto& how = compressed.head.chunk_table.variables;
    CHECK(how[0].filter == 0);
    CHECK(how[1].filter == codec::zfp_id);
    CHECK(how[1].chunk_bytes == 35 * 50 * 73 * 8);  // whole planes
    CHECK(how[3].filter == codec::blosc_id);
    CHECK(how[5].filter == 0);
    CHECK(how[7].filter == 0);  // no rows
    for (const auto& chunk : compressed.head.chunk_table.chunks)
        if (chunk.variable == 3) CHECK_FALSE(chunk.filtered);  // noise
}

TEST_CASE("numbers that zfp cannot keep within the bound are stored as they are, and this is told") {
    auto odd = image;
    const auto at = staged.extents[1].offset_bytes;
    store_le(odd.data() + at, std::nan(""));
    const auto segments = format::segments_by_offset(staged);
    auto file = staged;
    for (const auto& segment : segments)
        if (segment.offset == at)
            file.crc32c[segment.word] = crc32c(std::span<const std::byte>(odd).subspan(at, segment.bytes));
    drain::CompressionMemory memory{.rules = mixed};
    SimStore disk("run");
    REQUIRE(disk.make_directories(part));
    const drain::NodeDrain how{.store = &disk, .run = "run", .write = {.in_flight = 2}};
    const auto compressed = drain::write_compressed(how, memory, file, odd, path, "slot").value();
    CHECK(compressed.refused_chunks == 1);
    const auto opened = open_packed(disk);
    check_segments(opened);
    std::vector<std::byte> bytes(16);
    catalog::PlainBytes::Scratch scratch;
    catalog::PlainBytes(*opened.file, opened.head, path).read(at, bytes, scratch).value();
    CHECK(std::memcmp(bytes.data(), odd.data() + at, bytes.size()) == 0);
}

TEST_CASE("damage of what is staged is found before it is compressed, and nothing gets the final name") {
    for (const std::size_t v : {0u, 1u, 4u, 5u}) {
        auto damaged = image;
        damaged[staged.extents[v].offset_bytes + staged.extents[v].used_bytes / 2] ^= std::byte{4};
        SimStore disk("run");
        const auto failed = drain_to(disk, mixed, damaged);
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == ErrorKind::corrupt);
        CHECK(failed.error().text().find(staged.schema.variables[v].name) != std::string::npos);
        CHECK_FALSE(disk.peek(path));
        CHECK_FALSE(disk.peek(path + ".tmp"));
    }
}

TEST_CASE("a flip of any stored byte is found, and verify names variable and place") {
    SimStore disk("run");
    REQUIRE(drain_to(disk, mixed));
    const auto compressed = open_packed(disk);
    REQUIRE(test::commit(disk, "run", {}).value() == commit::Commit::committed);
    const catalog::Snapshot snapshot{"restart", 120, "run/restart/step-000120"};
    REQUIRE(catalog::verify(disk, snapshot, {}).value().damage.empty());
    const auto name = snapshot.directory + "/node-00000.h5";
    const auto whole = *disk.peek(name);
    for (const auto& chunk : compressed.head.chunk_table.chunks) {
        const auto& variable = compressed.head.schema.variables[chunk.variable];
        const auto where = chunk.stored_offset + std::min(chunk.stored_bytes, chunk.plain_bytes) / 2;
        CAPTURE(variable.name);
        auto flipped = whole;
        flipped[where] = static_cast<char>(flipped[where] ^ 1);
        REQUIRE(disk.open(name, sys::Access::create).value()->write(0, bytes_of(flipped)));
        const auto verified = catalog::verify(disk, snapshot, {}).value();
        REQUIRE_FALSE(verified.damage.empty());
        CHECK(verified.damage.front().variable == variable.name);
    }
}

TEST_CASE("a crash at any operation leaves the compressed file whole or absent; what was drained is there") {
    SimStore before("run");
    REQUIRE(before.make_directories(part));
    before.settle();
    const auto is_whole = [](SimStore& disk) {
        const auto reader = catalog::NodeReader::open(disk, path);
        return reader && reader->peek().staged_crc32c == staged.record_crc32c;
    };
    const auto drain = [](SimStore& disk) { return drain_to(disk, zstd); };
    const auto check = [&](SimStore& disk, const auto& drained) {
        if (drained) CHECK(is_whole(disk));
        if (disk.exists(path).value()) CHECK(is_whole(disk));
        REQUIRE(drain_to(disk, zstd));
        CHECK(is_whole(disk));
    };
    CHECK(test::crash_at_each(before, test::reboots(5), drain, check) > 8);
}

TEST_CASE("a fault at any operation is an error without a file under the final name, and the next try drains") {
    for (const auto kind : {Op::open, Op::write, Op::truncate, Op::sync, Op::close, Op::rename}) {
        CAPTURE(static_cast<int>(kind));
        SimStore disk("run");
        disk.fail(kind, 0, {ErrorKind::retry, "Input/output error"});
        const auto failed = drain_to(disk, zstd);
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == ErrorKind::retry);
        CHECK_FALSE(disk.peek(path));
        REQUIRE(drain_to(disk, zstd));
        check_segments(open_packed(disk));
    }
}

TEST_CASE("a file that is there from this very save is left, plain or compressed") {
    SimStore disk("run");
    REQUIRE(drain_to(disk, {}));
    const auto plain = *disk.peek(path);
    CHECK(plain.size() == staged.file_bytes);
    REQUIRE(drain_to(disk, zstd));
    CHECK(*disk.peek(path) == plain);
    REQUIRE(disk.remove(path));
    REQUIRE(drain_to(disk, zstd));
    const auto writes = disk.calls(Op::write);
    REQUIRE(drain_to(disk, zstd));
    REQUIRE(drain_to(disk, {}));
    CHECK(disk.calls(Op::write) == writes);
}

TEST_CASE("an agent that has one CPU compresses with one thread, however many writes may be in flight") {
    SimStore disk("run");
    WriterStore store(disk);
    Drainer drainer{.memory = {.rules = zstd}};
    bool pinned = false;
    Result<> drained;
    std::jthread([&] {
        pinned = pin_to_one_cpu();
        drained = drainer.drain(store, image, 8);
    }).join();
    REQUIRE(pinned);
    REQUIRE(drained);
    CHECK(store.writers.size() == 1);
}

TEST_CASE("many threads and one give the same file") {
    node::CompressionRules fixed{{.codec = Codec::zstd, .level = 2}, {}};
    std::string files[2];
    for (const int in_flight : {1, 8}) {
        SimStore disk("run");
        Drainer drainer{.memory = {.rules = fixed}};
        REQUIRE(drainer.drain(disk, image, in_flight));
        files[in_flight == 1 ? 0 : 1] = *disk.peek(path);
    }
    CHECK(files[0] == files[1]);
}
