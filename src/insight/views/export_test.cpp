// Goal: a finished export is whole and has the same bytes for any threads, memory, processes and crashes. Damaged data
// are never copied. tests/views checks what readers see.
// Method: small snapshots on the simulated disk, which stops the program before each operation; costs are exact counts.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "support/crashes.hpp"
#include "support/export_sample.hpp"

using namespace forebay;
using namespace forebay::test::exports;
using test::Op;
using test::SimStore;

namespace {

void flip(SimStore& disk, const std::string& path, std::uint64_t at) {
    auto file = disk.open(path, sys::Access::update).value();
    auto byte = static_cast<std::byte>((*disk.peek(path))[at]);
    byte ^= std::byte{0x40};
    REQUIRE(file->write(at, {&byte, 1}));
}

}  // namespace

TEST_CASE("any number of threads, any memory and any layout of nodes give the same bytes") {
    SimStore disk;
    const auto expected = exported(disk, make(disk), small_windows());
    for (const int threads : {1, 2, 5, 17})
        for (const std::uint64_t memory : {13 * mib, 40 * mib, 64 * mib, 0 * mib}) {
            auto options = small_windows();
            options.threads = threads;
            options.memory_bytes = memory;
            options.replace = true;
            CAPTURE(threads);
            CAPTURE(memory);
            CHECK(bool(exported(disk, {"fields", 120, "run/fields/step-000120"}, options) == expected));
        }
    SimStore combined;
    CHECK(bool(exported(combined, make(combined, {3, 1, 4}, 2), small_windows()) == expected));
    CHECK(outputs(disk) == std::vector<std::string>{"out.h5"});
}

TEST_CASE("costs: one file, its size set once, few writes of metadata, large writes of data") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto before = std::pair(disk.calls(Op::truncate), disk.calls(Op::write));
    const auto bytes_before = disk.bytes_written();
    auto options = small_windows();
    options.journal_bytes = 0;
    const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", options).value();
    CHECK(disk.calls(Op::truncate) - before.first == 1);
    // The final journal is one more write. HDF5 itself writes 28 small values between the small datasets.
    const auto of_head = static_cast<std::uint64_t>(disk.calls(Op::write) - before.second) - done.writes - 1;
    CHECK(of_head <= 16);
    CHECK(done.writes <= 20);  // 41 datasets, of which small neighbours share a write
    CHECK(done.bytes_written <= disk.bytes_written() - bytes_before);
    CHECK(done.bytes_read < done.bytes_written + 4 * mib);  // a segment that spans two windows is read twice
    CHECK(done.notes.empty());
}

TEST_CASE("a crash at any operation leaves the file whole or absent, and the next call ends it") {
    SimStore clean;
    const auto snapshot = make_columns(clean);
    const auto start = clean.clone();
    const auto expected = exported(clean, snapshot, small_windows());
    bool any_resumed = false;
    const auto export_once = [&](SimStore& disk) {
        const bool done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows()).has_value();
        return std::pair(done, disk.crashed());
    };
    const auto check = [&](SimStore& disk, const auto& outcome) {
        const auto [done, crashed] = outcome;
        const auto content = disk.peek("out.h5");
        if (content) REQUIRE(bool(*content == expected));
        if (done) REQUIRE(content);
        if (!crashed) return;
        auto options = small_windows();
        options.replace = true;
        const auto again = views::export_file(disk, {snapshot}, plain, "out.h5", options);
        REQUIRE_MESSAGE(again, again.error().text());
        REQUIRE(bool(*disk.peek("out.h5") == expected));
        REQUIRE(outputs(disk) == std::vector<std::string>{"out.h5"});
        if (again->resumed_bytes > 0) {
            any_resumed = true;
            CHECK(again->bytes_written + again->resumed_bytes == 2 * 150'007 * 8);
            CHECK(again->notes.empty());
        }
    };
    CHECK(test::crash_at_each(*start, test::reboots(4), export_once, check) > 40);
    CHECK(any_resumed);
}

TEST_CASE("what is durable is not copied again; another source begins anew and says so") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto expected = exported(disk, snapshot, small_windows());
    REQUIRE(disk.remove("out.h5"));
    std::atomic<bool> stop = false;
    auto options = small_windows();
    options.stop = &stop;
    options.progress = [&](std::uint64_t bytes, std::uint64_t) { stop = bytes > 2 * mib; };
    const auto stopped = views::export_file(disk, {snapshot}, plain, "out.h5", options);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == ErrorKind::retry);
    CHECK(outputs(disk).size() == 2);  // the part and its journal
    SUBCASE("the same again") {
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows()).value();
        CHECK(done.resumed_bytes >= mib);
        CHECK(done.bytes_written <= 2 * mib + 300'000);
        CHECK(done.notes.empty());
    }
    SUBCASE("with other memory and threads") {
        auto others = small_windows();
        others.memory_bytes = 30 * mib;
        others.threads = 2;
        CHECK(views::export_file(disk, {snapshot}, plain, "out.h5", others).value().resumed_bytes >= mib);
    }
    SUBCASE("a journal that is damaged") {
        for (const auto& path : outputs(disk))
            if (path.ends_with(".journal")) flip(disk, path, 3);
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows()).value();
        CHECK(done.resumed_bytes == 0);
        REQUIRE(done.notes.size() == 1);
        CHECK(done.notes[0].find("begins anew") != std::string::npos);
    }
    SUBCASE("a part that was cut") {
        for (const auto& path : outputs(disk))
            if (!path.ends_with(".journal")) REQUIRE(disk.open(path, sys::Access::update).value()->truncate(5000));
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows()).value();
        CHECK(done.resumed_bytes == 0);
        REQUIRE(done.notes.size() == 1);
        CHECK(done.notes[0].find("was changed since the last export") != std::string::npos);
    }
    SUBCASE("another alignment") {
        auto others = small_windows();
        others.alignment_bytes = 4096;
        const auto refused = views::export_file(disk, {snapshot}, plain, "out.h5", others);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().text().find("./out.h5.part-") != std::string::npos);
        CHECK(outputs(disk).size() == 2);  // the other export may be running
        others.replace = true;
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", others).value();
        CHECK(done.resumed_bytes == 0);
        REQUIRE(done.notes.size() == 1);
        CHECK(done.notes[0].find("other options") != std::string::npos);
        CHECK(outputs(disk) == std::vector<std::string>{"out.h5"});
        return;
    }
    CHECK(bool(*disk.peek("out.h5") == expected));
    CHECK(outputs(disk) == std::vector<std::string>{"out.h5"});
}

TEST_CASE("a damaged segment ends the export with what verify says of it") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto source = snapshot.directory + "/" + format::node_path(1, 3);
    const auto head = catalog::load_head(disk, source).value();
    const auto block =
        std::ranges::find_if(head.blocks, [](const auto& candidate) { return candidate.size_bytes > 0; });
    flip(disk, source, block->offset_bytes + 1);
    const auto damage = catalog::verify(disk, snapshot, {}).value().damage;
    REQUIRE(damage.size() == 1);
    for (const int threads : {1, 3}) {
        auto options = small_windows();
        options.threads = threads;
        options.memory_bytes = 0;
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", options);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == ErrorKind::corrupt);
        CHECK(done.error().text().find(damage[0].text) != std::string::npos);
        CHECK(done.error().text().find("Next: forebay verify run/fields@120") != std::string::npos);
        CHECK_FALSE(disk.peek("out.h5"));
    }
}

TEST_CASE("a node file that is missing or another's is found before anything is written") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto source = snapshot.directory + "/" + format::node_path(1, 3);
    auto expected = ErrorKind::missing;
    SUBCASE("missing") { REQUIRE(disk.remove(source)); }
    SUBCASE("cut short") {
        REQUIRE(disk.open(source, sys::Access::update).value()->truncate(100'000));
        expected = ErrorKind::corrupt;
    }
    const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows());
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == expected);
    CHECK(done.error().text().find("node-00001.h5") != std::string::npos);
    CHECK(outputs(disk).empty());
}

TEST_CASE("a full target: known before, or found while writing; the same command ends it") {
    SimStore disk;
    const auto snapshot = make(disk);
    auto options = small_windows();
    options.free_bytes = [](const std::string&) -> Result<std::uint64_t> { return std::uint64_t{4096}; };
    const auto refused = views::export_file(disk, {snapshot}, plain, "out.h5", options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::full);
    CHECK(refused.error().text().find("4.10 kB free") != std::string::npos);
    CHECK(outputs(disk).empty());
    options = small_windows();
    disk.fail(Op::write, 9, {ErrorKind::full, "out.h5: No space left on device"});
    const auto full = views::export_file(disk, {snapshot}, plain, "out.h5", options);
    REQUIRE_FALSE(full);
    CHECK(full.error().kind == ErrorKind::full);
    CHECK(full.error().text().find("free some room in ., then repeat the same command") != std::string::npos);
    CHECK_FALSE(disk.peek("out.h5"));
    SimStore other;
    CHECK(bool(exported(disk, snapshot, small_windows()) == exported(other, make(other), small_windows())));
}

TEST_CASE("whichever write fails, with threads that are ahead of it, the next call copies what is not there") {
    SimStore clean;
    const auto snapshot = make_columns(clean);
    const auto start = clean.clone();
    const auto expected = exported(clean, snapshot, small_windows());
    auto options = small_windows();
    options.threads = 3;
    options.memory_bytes = 39 * mib;
    options.journal_bytes = 1;  // after each window
    for (int nth = 0; nth < 12; ++nth) {
        const auto disk = start->clone();
        disk->fail(Op::write, nth, {ErrorKind::retry, "out.h5: Input/output error"});
        disk->delay(Op::write, nth, std::chrono::milliseconds(20));
        const auto failed = views::export_file(*disk, {snapshot}, plain, "out.h5", options);
        CAPTURE(nth);
        if (failed) continue;  // there are fewer operations
        CHECK_FALSE(disk->peek("out.h5"));
        disk->reboot({});
        CHECK(bool(exported(*disk, snapshot, options) == expected));
    }
}

TEST_CASE("a file that is there stays unless it may be replaced") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto bytes = exported(disk, snapshot, small_windows());
    const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", small_windows());
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == ErrorKind::refused);
    CHECK(done.error().text().find("--force") != std::string::npos);
    auto options = small_windows();
    options.replace = true;
    CHECK(bool(exported(disk, snapshot, options) == bytes));
}

TEST_CASE("several processes: one begins, each copies its part, one finishes") {
    SimStore disk;
    const auto snapshot = make(disk);
    const auto expected = exported(disk, snapshot, small_windows());
    REQUIRE(disk.remove("out.h5"));
    for (const std::uint32_t parts : {1u, 2u, 3u, 7u, 90u}) {
        CAPTURE(parts);
        std::vector<views::Export> all;
        for (std::uint32_t part = 0; part < parts; ++part)
            all.push_back(views::Export::plan(disk, {snapshot}, plain, "out.h5", small_windows()).value());
        REQUIRE(all[0].begin());
        for (std::uint32_t part = 0; part + 1 < parts; ++part) REQUIRE(all[part].copy(part, parts));
        const auto early = all[0].finish(parts);
        REQUIRE_FALSE(early);
        CHECK(early.error().text().find(fmt::format("part {} of", parts - 1)) != std::string::npos);
        CHECK_FALSE(disk.peek("out.h5"));
        REQUIRE(all.back().copy(parts - 1, parts));
        REQUIRE(all[parts / 2].finish(parts));
        CHECK(bool(*disk.peek("out.h5") == expected));
        CHECK(outputs(disk) == std::vector<std::string>{"out.h5"});
        std::uint64_t written = 0;
        for (const auto& writer : all) written += writer.done().bytes_written;
        CHECK(written > 3 * mib);
        CHECK(written < 4 * mib);
        REQUIRE(disk.remove("out.h5"));
    }
}

TEST_CASE("memory and alignment that cannot be are refused") {
    SimStore disk;
    const auto snapshot = make(disk, {1});
    const auto refused = [&](std::uint64_t alignment, std::uint64_t memory) {
        views::ExportOptions options{.alignment_bytes = alignment, .memory_bytes = memory};
        const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", options);
        return !done && done.error().kind == ErrorKind::refused &&
               done.error().text().find("Next:") != std::string::npos;
    };
    CHECK(refused(0, 0));
    CHECK(refused(5000, 0));
    CHECK(refused(mib, 12 * mib));
    CHECK_FALSE(refused(64 * mib, 13 * mib));
    CHECK(outputs(disk) == std::vector<std::string>{"out.h5"});
}
