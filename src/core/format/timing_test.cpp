// Goal: a batch of timings comes back unchanged from a file, with at most 64 KiB, between any other bytes. Damaged
// bytes are skipped and never used.
// Method: batches by hand, cut and with flipped bits.

#include "core/format/timing.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "support/made_chronicle.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

TimingBatch made(std::uint64_t writes, std::uint32_t targets = 1) {
    std::mt19937 random(1);
    test::MadeRun run{.node_bytes = writes << 20, .write_bytes = 1u << 20, .targets = targets};
    return test::made_batch(run, 3, 2, random);
}

std::uint64_t kib_of(const TimingBatch& batch, TimingKind kind) {
    std::uint64_t sum = 0;
    for (const auto& timing : batch.timings)
        if (timing.kind == static_cast<std::uint16_t>(kind)) sum += timing.kib;
    return sum;
}

void append(std::vector<std::byte>& file, const std::vector<std::byte>& more) {
    file.insert(file.end(), more.begin(), more.end());
}

}  // namespace

TEST_CASE("a batch comes back as it was") {
    auto batch = made(20, 4);
    batch.why = {"late: \"quoted\"\n and more", "second"};
    batch.host = "h\x1b[31m";
    batch.agent_began_unix_ns = 1'795'419'000'000'000'001;
    const auto timings = decode_timings(encode(batch));
    CHECK(timings.damaged_bytes == 0);
    REQUIRE(timings.batches.size() == 1);
    const auto& back = timings.batches.front();
    CHECK(back.host == batch.host);
    CHECK(back.step == batch.step);
    CHECK(back.agent_began_unix_ns == batch.agent_began_unix_ns);
    CHECK(back.why == batch.why);
    CHECK(back.drain_seconds == batch.drain_seconds);
    CHECK(back.saved_unix_ns == batch.saved_unix_ns);
    REQUIRE(back.targets.size() == 4);
    CHECK(back.targets[2].name == "OST0002");
    CHECK(back.targets[2].bytes == batch.targets[2].bytes);
    CHECK(back.timings.size() == batch.timings.size());
    CHECK(kib_of(back, TimingKind::write) == 20 * 1024);
    CHECK(decode_timings(encode(batch), false).batches.front().timings.empty());
}

TEST_CASE("a batch has at most 64 KiB: writes of one target are merged, and no byte of them is lost") {
    for (const std::uint64_t writes : {2000u, 20000u}) {
        const auto batch = made(writes, 24);
        const auto bytes = encode(batch);
        CHECK(bytes.size() <= timing_batch_bytes_max);
        const auto back = decode_timings(bytes).batches.at(0);
        CHECK(kib_of(back, TimingKind::write) == writes * 1024);
        CHECK(back.dropped == 0);
        CHECK(kib_of(back, TimingKind::copy) == kib_of(batch, TimingKind::copy));
        std::uint64_t merged = 0;
        for (const auto& timing : back.timings)
            if (timing.kind == static_cast<std::uint16_t>(TimingKind::write))
                merged += 1 + ((timing.flags >> timing_merged_shift) & timing_merged_max);
        CHECK(merged == writes);
    }
}

TEST_CASE("what cannot be merged is dropped and counted; long names and many targets are cut") {
    auto batch = made(10);
    batch.timings.assign(5000, test::made_timing(TimingKind::retry, 5, 1));
    batch.why.assign(100, std::string(10000, '\x01'));
    batch.host = std::string(100000, 'h');
    auto bytes = encode(batch);
    CHECK(bytes.size() <= timing_batch_bytes_max);
    auto back = decode_timings(bytes).batches.at(0);
    CHECK(back.dropped + back.timings.size() == 5000);
    CHECK(back.timings.size() > 500);

    batch = made(4000, 2000);
    bytes = encode(batch);
    CHECK(bytes.size() <= timing_batch_bytes_max);
    back = decode_timings(bytes).batches.at(0);
    CHECK(back.targets.size() + back.targets_left_out == 2000);
    CHECK(back.timings.size() > 500);
    for (const auto& timing : back.timings) CHECK((timing.target == no_target || timing.target < back.targets.size()));
}

TEST_CASE("of several batches the whole ones are read, whatever lies between them") {
    const auto first = encode(made(5)), second = encode(made(9));
    auto file = first;
    file.resize(file.size() + 37, std::byte{'x'});
    append(file, second);
    file.insert(file.end(), first.begin(), first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2));
    const auto timings = decode_timings(file);
    REQUIRE(timings.batches.size() == 2);
    CHECK(timings.damaged_bytes == 37 + first.size() / 2);
    CHECK(kib_of(timings.batches[1], TimingKind::write) == 9 * 1024);
}

TEST_CASE("no flipped byte is believed") {
    const auto good = encode(made(3));
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bad = good;
        bad[at] ^= std::byte{0x10};
        CHECK(decode_timings(bad).batches.empty());
    }
}

TEST_CASE("numbers that are none are zeros in the file") {
    auto batch = made(1);
    batch.drain_seconds = 0.0 / 0.0;
    batch.slowdown_percent = 1e308 * 10;
    const auto back = decode_timings(encode(batch)).batches.at(0);
    CHECK(back.drain_seconds == 0);
    CHECK(back.slowdown_percent == 0);
}
