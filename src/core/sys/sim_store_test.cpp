// Goal: the simulated disk is as unkind as POSIX allows, and no unkinder: synced data stay, unsynced data may go.

#include "support/sim_store.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "core/base/bytes.hpp"

using namespace forebay;
using sys::Access;
using test::Op;
using test::SimStore;

namespace {

using Paths = std::vector<std::string>;
constexpr test::Survivors nothing{.names = false, .bytes = false};
constexpr test::Survivors names_only{.names = true, .bytes = false};
constexpr test::Survivors bytes_only{.names = false, .bytes = true};
constexpr test::Survivors everything{.names = true, .bytes = true};

void put(SimStore& disk, const std::string& path, std::string_view text, bool sync = false) {
    auto file = disk.open(path, Access::create).value();
    file->write(0, bytes_of(text)).value();
    if (sync) file->sync().value();
    file->close().value();
}

}  // namespace

TEST_CASE("a file: name and bytes are durable each by its own sync") {
    for (const bool sync_bytes : {false, true}) {
        for (const bool sync_name : {false, true}) {
            for (const auto kept : {nothing, names_only, bytes_only, everything}) {
                CAPTURE(sync_bytes);
                CAPTURE(sync_name);
                SimStore disk;
                put(disk, "f", "text", sync_bytes);
                if (sync_name) REQUIRE(disk.sync_directory("."));
                disk.reboot(kept);
                const auto content = disk.peek("f");
                CHECK(content.has_value() == (sync_name || kept.names));
                if (content) CHECK(*content == (sync_bytes || kept.bytes ? "text" : ""));
            }
        }
    }
}

TEST_CASE("an emptied or cut file comes back with its durable bytes") {
    SimStore disk;
    put(disk, "f", "durable", true);
    REQUIRE(disk.sync_directory("/"));
    const auto again = disk.clone();
    put(*again, "f", "new");
    again->reboot(nothing);
    CHECK(again->peek("f") == "durable");
    const auto cut = disk.clone();
    auto file = cut->open("f", Access::create).value();
    REQUIRE(file->write(0, bytes_of("abc")));
    REQUIRE(file->truncate(1));
    REQUIRE(file->sync());
    cut->reboot(nothing);
    CHECK(cut->peek("f") == "a");
    CHECK(disk.peek("f") == "durable");  // clones share no data
}

TEST_CASE("directories: names inside are durable by their own sync, and gone with an unsynced parent") {
    SimStore disk;
    REQUIRE(disk.make_directories("run/stream/part"));
    put(disk, "run/stream/part/n0", "0", true);
    REQUIRE(disk.sync_directory("run/stream/part"));
    const auto lost = disk.clone();
    lost->reboot(nothing);
    CHECK(lost->paths().empty());
    REQUIRE(disk.sync_directory("."));
    REQUIRE(disk.sync_directory("run"));
    REQUIRE(disk.sync_directory("run/stream"));
    disk.reboot(nothing);
    CHECK(disk.paths() == Paths{"run/", "run/stream/", "run/stream/part/", "run/stream/part/n0"});
}

TEST_CASE("rename of a directory moves all below, and is durable with the sync of either parent") {
    for (const bool sync_from : {false, true}) {
        SimStore disk;
        REQUIRE(disk.make_directories("a/part/nodes"));
        REQUIRE(disk.make_directories("b"));
        put(disk, "a/part/nodes/n0", "0", true);
        disk.settle();
        REQUIRE(disk.rename("a/part", "b/step"));
        CHECK(disk.peek("b/step/nodes/n0") == "0");
        CHECK_FALSE(disk.peek("a/part/nodes/n0"));
        const auto before = disk.clone();
        before->reboot(nothing);
        CHECK(before->peek("a/part/nodes/n0") == "0");
        CHECK_FALSE(before->peek("b/step/nodes/n0"));
        REQUIRE(disk.sync_directory(sync_from ? "a" : "b"));
        disk.reboot(nothing);
        CHECK(disk.paths() == Paths{"a/", "b/", "b/step/", "b/step/nodes/", "b/step/nodes/n0"});
    }
}

TEST_CASE("sync of a directory keeps the order of changes to one name") {
    SimStore disk;
    REQUIRE(disk.make_directories("a"));
    REQUIRE(disk.make_directories("b"));
    disk.settle();
    put(disk, "a/tmp", "1", true);  // unsynced name, then moved: it must not come back under the old one
    REQUIRE(disk.rename("a/tmp", "b/final"));
    put(disk, "a/other", "2", true);
    REQUIRE(disk.sync_directory("b"));
    REQUIRE(disk.clone()->sync_directory("a"));
    const auto both = disk.clone();
    REQUIRE(both->sync_directory("a"));
    disk.reboot(nothing);
    CHECK(disk.paths() == Paths{"a/", "b/", "b/final"});
    both->reboot(nothing);
    CHECK(both->paths() == Paths{"a/", "a/other", "b/", "b/final"});
}

TEST_CASE("rename, remove and their refusals are POSIX's") {
    SimStore disk;
    REQUIRE(disk.make_directories("d/e"));
    put(disk, "f", "f");
    put(disk, "g", "g");
    CHECK(disk.rename("f", "g"));
    CHECK(disk.peek("g") == "f");
    CHECK(disk.rename("none", "x").error().kind == ErrorKind::missing);
    CHECK(disk.rename("g", "no/x").error().kind == ErrorKind::missing);
    CHECK(disk.rename("g", "d").error().kind == ErrorKind::refused);
    CHECK(disk.rename("d", "g").error().kind == ErrorKind::refused);
    CHECK(disk.rename("d", "d/e/d").error().kind == ErrorKind::broken);
    REQUIRE(disk.make_directories("empty"));
    CHECK(disk.rename("empty", "d").error().kind == ErrorKind::refused);
    CHECK(disk.rename("d", "empty"));
    CHECK(disk.paths() == Paths{"empty/", "empty/e/", "g"});
    CHECK(disk.remove("empty").error().kind == ErrorKind::refused);
    CHECK(disk.remove("none"));
    CHECK(disk.remove("g"));
    CHECK(disk.remove_tree("none"));
    CHECK(disk.make_directories("g"));
    put(disk, "empty/e/f", "x");
    CHECK(disk.remove_tree("empty/e/f").error().kind == ErrorKind::refused);
    CHECK(disk.remove_tree("empty"));
    CHECK(disk.paths() == Paths{"g/"});
    CHECK(disk.make_directories("g/a/b"));
    put(disk, "f", "12345");
    CHECK(disk.make_directories("f/x").error().kind == ErrorKind::refused);
    CHECK(disk.open("g", Access::create).error().kind == ErrorKind::refused);
    CHECK(disk.open("none", Access::read).error().kind == ErrorKind::missing);
    CHECK(disk.open("no/f", Access::create).error().kind == ErrorKind::missing);
    const auto entries = disk.list("/").value();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "f");
    CHECK(entries[0].size == 5);
    CHECK(entries[1].is_directory);
    CHECK(disk.list("none").error().kind == ErrorKind::missing);
    CHECK(*disk.exists("g/a"));
    CHECK_FALSE(*disk.exists("g/none"));
}

TEST_CASE("an unsynced removal may come back, with all that was below") {
    SimStore disk;
    REQUIRE(disk.make_directories("step/nodes"));
    put(disk, "step/nodes/n0", "0");
    disk.settle();
    REQUIRE(disk.remove_tree("step"));
    CHECK(disk.paths().empty());
    disk.reboot(nothing);
    CHECK(disk.peek("step/nodes/n0") == "0");
}

TEST_CASE("crash_before: that operation and all later fail, without effect, until the reboot; handles stay dead") {
    SimStore disk;
    auto file = disk.open("f", Access::create).value();
    disk.crash_before(disk.operations() + 1);
    CHECK(file->write(0, bytes_of("a")));
    CHECK_FALSE(disk.crashed());
    CHECK_FALSE(file->write(1, bytes_of("b")));
    CHECK(disk.crashed());
    CHECK_FALSE(file->sync());
    CHECK_FALSE(disk.exists("f"));
    CHECK_FALSE(disk.rename("f", "g"));
    CHECK(disk.peek("f") == "a");
    disk.reboot(everything);
    CHECK(disk.peek("f") == "a");
    CHECK(*disk.exists("f"));
    CHECK_FALSE(file->write(0, bytes_of("c")));
    CHECK(disk.peek("f") == "a");
}

TEST_CASE("fail: the nth call of a kind; half a write is written, a failed sync has lost the bytes") {
    SimStore disk;
    auto file = disk.open("f", Access::create).value();
    disk.fail(Op::write, 1, {ErrorKind::full, "no room"}, 2);
    CHECK(file->write(0, bytes_of("0000")));
    CHECK(file->write(0, bytes_of("1111")).error().what == "no room");
    CHECK(disk.peek("f") == "1100");
    CHECK_FALSE(file->write(0, bytes_of("2222")));
    CHECK(file->write(0, bytes_of("3333")));
    disk.fail(Op::sync, 0, {ErrorKind::retry, "EIO"});
    CHECK_FALSE(file->sync());
    CHECK_FALSE(file->sync());  // as in the real File
    CHECK(disk.open("f", Access::read).value()->sync());
    REQUIRE(disk.sync_directory("."));
    CHECK(disk.peek("f") == "3333");
    disk.reboot(everything);
    CHECK(disk.peek("f") == "");
}

TEST_CASE("files: read bounds, read-only, closed, direct alignment") {
    SimStore disk;
    put(disk, "f", "abcd");
    auto file = disk.open("f", Access::read).value();
    std::array<std::byte, 3> bytes{};
    CHECK(file->read(1, bytes));
    CHECK(text_of(bytes) == "bcd");
    CHECK(file->read(2, bytes).error().kind == ErrorKind::corrupt);
    CHECK(file->read(9, bytes).error().kind == ErrorKind::corrupt);
    CHECK(*file->size() == 4);
    CHECK_FALSE(file->write(0, bytes_of("x")));
    CHECK_FALSE(file->truncate(0));
    CHECK(file->close());
    CHECK(file->close());
    CHECK_FALSE(file->size());
    CHECK_FALSE(disk.open("g", Access::create_direct).value()->direct());
    disk.support_direct(true);
    auto direct = disk.open("g", Access::create_direct).value();
    CHECK(direct->direct());
    alignas(4096) static std::array<std::byte, 8192> pages{};
    CHECK(direct->write(4096, std::span(pages).first(4096)));
    CHECK_FALSE(direct->write(100, std::span(pages).first(4096)));
    CHECK_FALSE(direct->write(0, std::span(pages).first(100)));
    CHECK_FALSE(direct->write(0, std::span(pages).subspan(8, 4096)));
}

TEST_CASE("reboot_torn: sectors of unsynced writes by themselves, the same for the same seed") {
    SimStore disk;
    put(disk, "f", std::string(2048, 'o'), true);
    disk.settle();
    auto file = disk.open("f", Access::create).value();
    REQUIRE(file->sync());
    REQUIRE(file->write(0, bytes_of(std::string(256, 's'))));
    REQUIRE(file->sync());
    REQUIRE(file->write(256, bytes_of(std::string(1600, 'n'))));
    put(disk, "a", "a");
    put(disk, "b", "b");
    std::set<std::string> contents;
    std::set<Paths> names;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto first = disk.clone();
        const auto second = disk.clone();
        first->reboot_torn(seed);
        second->reboot_torn(seed);
        const std::string text = first->peek("f").value();
        REQUIRE(text == second->peek("f").value());
        REQUIRE(first->paths() == second->paths());
        CHECK(text.substr(0, 256) == std::string(256, 's'));
        for (std::size_t at = 256; at < text.size(); at = (at / 512 + 1) * 512) {
            const auto sector = text.substr(at, (at / 512 + 1) * 512 - at);
            CHECK(sector == std::string(sector.size(), sector[0]));  // a sector is whole or absent
            CHECK((sector[0] == 'n' || sector[0] == '\0'));
        }
        contents.insert(text);
        names.insert(first->paths());
    }
    CHECK(contents.size() == 24);  // 4 sectors, and the length without the last of them
    CHECK(names.size() == 4);      // 2 names
}

TEST_CASE("threads: operations are counted, none is lost") {
    SimStore disk;
    auto file = disk.open("f", Access::create).value();
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (std::uint64_t i = 0; i < 100; ++i) file->write(t * 100 + i, bytes_of("x")).value();
            });
    }
    CHECK(disk.operations() == 401);
    CHECK(disk.calls(Op::write) == 400);
    CHECK(disk.peek("f") == std::string(400, 'x'));
}

TEST_CASE("remove_tree: a crash leaves a part of the tree") {
    SimStore disk;
    REQUIRE(disk.make_directories("step"));
    for (const auto* path : {"step/a", "step/b", "step/c"}) put(disk, path, "x");
    disk.crash_before(disk.operations() + 3);
    CHECK_FALSE(disk.remove_tree("step"));
    disk.kill_programs();
    CHECK(disk.paths() == Paths{"step/", "step/c"});
}

TEST_CASE("kill_programs: nothing is lost, nothing more is durable") {
    SimStore disk;
    put(disk, "f", "text");
    auto file = disk.open("f", Access::read).value();
    disk.crash_before(disk.operations());
    CHECK_FALSE(disk.exists("f"));
    disk.kill_programs();
    CHECK(disk.peek("f") == "text");
    CHECK_FALSE(file->size());
    CHECK(*disk.exists("f"));
    disk.reboot(nothing);
    CHECK(disk.paths().empty());
}

TEST_CASE("fail_by_seed: every call may fail, writes may be short, the same seed fails the same calls") {
    const auto outcomes = [](std::uint64_t seed) {
        SimStore disk;
        disk.fail_by_seed(seed, 4);
        std::vector<std::string> texts;
        for (int i = 0; i < 200; ++i) {
            const auto file = disk.open("f", Access::create);
            const auto written = file ? (*file)->write(0, bytes_of("0123456789")) : Result<>(file.error());
            texts.push_back(written ? "" : written.error().what);
            texts.push_back(disk.peek("f").value_or("none"));
        }
        return texts;
    };
    const auto single = outcomes(1);
    CHECK(single == outcomes(1));
    CHECK(single != outcomes(2));
    const std::set<std::string> kinds(single.begin(), single.end());
    for (const auto* text : {"", "0123456789", "01234", "No space left (simulated disk)"}) CHECK(kinds.contains(text));
    CHECK(kinds.contains("Input/output error (simulated disk)"));
}

TEST_CASE("delay: the others overtake; a power cut meets who waits") {
    using namespace std::chrono_literals;
    SimStore disk;
    disk.delay(Op::rename, 0, 1s);
    put(disk, "f", "f");
    std::jthread slow([&] { CHECK(disk.rename("f", "g")); });
    while (disk.calls(Op::rename) == 0) std::this_thread::yield();
    CHECK(disk.peek("f") == "f");  // a look that waited for the rename would not find it
    slow.join();
    CHECK(disk.peek("g") == "f");
    disk.delay(Op::rename, 0, 100ms);
    std::jthread cut([&] { CHECK_FALSE(disk.rename("g", "h")); });
    while (disk.calls(Op::rename) == 1) std::this_thread::yield();
    disk.reboot(nothing);
}
