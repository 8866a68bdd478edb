// Goal: write_text_durable leaves the old or the new text after a crash at any operation, and the new text once it has
//       returned success.
// Method: the power is cut before each operation of the simulated disk. The disk comes back in each state that POSIX
//         allows. The same enumeration runs on writers that each omit a step: the test must catch every one.

#include "core/sys/store.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "support/crashes.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::SimStore;
using test::Survivors;

namespace {

using Writer = std::function<Result<>(sys::Store&, const std::string&, std::string_view)>;

// Larger than a sector, so that a torn write differs from a whole write.
const std::string old_text(3000, 'o');
const std::string new_text(3500, 'n');

/// How many crashes ended with neither text, or without the text that was called durable.
int broken_promises(const Writer& writer) {
    SimStore start;
    start.make_directories("run").value();
    sys::write_text_durable(start, "run/m", old_text).value();
    start.settle();

    int broken = 0;
    const auto write = [&](SimStore& disk) { return writer(disk, "run/m", new_text); };
    REQUIRE(write(*start.clone()));
    test::crash_at_each(start, test::reboots(54), write, [&](SimStore& disk, const Result<>& written) {
        const auto content = disk.peek("run/m");
        const bool whole = content == new_text || (content == old_text && !written);
        broken += whole ? 0 : 1;
    });
    return broken;
}

struct Without {
    bool sync, rename, sync_directory;
};

Writer mutant(Without left_out) {
    return [left_out](sys::Store& store, const std::string& path, std::string_view text) -> Result<> {
        const std::string temporary = left_out.rename ? path : path + ".tmp";
        FB_TRY_ASSIGN(file, store.open(temporary, sys::Access::create));
        FB_TRY(file->write(0, bytes_of(text)));
        if (!left_out.sync) FB_TRY(file->sync());
        FB_TRY(file->close());
        if (!left_out.rename) FB_TRY(store.rename(temporary, path));
        if (!left_out.sync_directory) FB_TRY(store.sync_directory("run"));
        return {};
    };
}

}  // namespace

TEST_CASE("write_text_durable: the old or the new text after a crash anywhere") {
    const auto write = [](sys::Store& store, const std::string& path, std::string_view text) {
        return sys::write_text_durable(store, path, text);
    };
    CHECK(broken_promises(write) == 0);
}

TEST_CASE("the enumeration catches a writer without sync, without rename, without sync of the directory") {
    CHECK(broken_promises(mutant({false, false, false})) == 0);
    CHECK(broken_promises(mutant({.sync = true, .rename = false, .sync_directory = false})) > 0);
    CHECK(broken_promises(mutant({.sync = false, .rename = true, .sync_directory = false})) > 0);
    CHECK(broken_promises(mutant({.sync = false, .rename = false, .sync_directory = true})) > 0);
}

TEST_CASE("write_text_durable: each failing step leaves the old text and nothing else, and says so") {
    for (const auto kind : {test::Op::open, test::Op::write, test::Op::sync, test::Op::close, test::Op::rename}) {
        CAPTURE(static_cast<int>(kind));
        SimStore disk;
        REQUIRE(sys::write_text_durable(disk, "m", "old"));
        disk.fail(kind, 0, {ErrorKind::full, "no room"});
        const auto failed = sys::write_text_durable(disk, "m", "new");
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == ErrorKind::full);
        CHECK(failed.error().what == "no room; m is unchanged");
        CHECK(disk.paths() == std::vector<std::string>{"m"});
        CHECK(disk.peek("m") == "old");
    }
    SimStore disk;
    disk.fail(test::Op::sync_directory, 0, {ErrorKind::retry, "later"});
    CHECK(sys::write_text_durable(disk, "m", "new").error().kind == ErrorKind::retry);
    CHECK(disk.peek("m") == "new");
}

TEST_CASE("write_text_durable: a leaving that cannot be removed is named") {
    SimStore disk;
    disk.fail(test::Op::sync, 0, {ErrorKind::retry, "lost"});
    disk.fail(test::Op::remove, 0, {ErrorKind::retry, "also lost"});
    const auto failed = sys::write_text_durable(disk, "m", "new");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().text().find("left behind: ./.m.") != std::string::npos);
    CHECK(failed.error().text().find("also lost") != std::string::npos);
}

TEST_CASE("costs: a durable text is 6 operations, 1 of them a create and 2 of them syncs") {
    SimStore disk;
    REQUIRE(sys::write_text_durable(disk, "m", "text"));
    CHECK(disk.operations() == 6);
    CHECK(disk.calls(test::Op::open) == 1);
    CHECK(disk.calls(test::Op::sync) + disk.calls(test::Op::sync_directory) == 2);
    CHECK(disk.bytes_written() == 4);
}

TEST_CASE("make_directories_durable: what it has made outlasts a power cut, and what was there is not synced again") {
    SimStore disk;
    disk.make_directories("scratch").value();
    disk.settle();
    REQUIRE(sys::make_directories_durable(disk, "scratch/me/run"));
    CHECK(disk.calls(test::Op::sync_directory) == 2);
    REQUIRE(sys::make_directories_durable(disk, "scratch/me/run"));
    CHECK(disk.calls(test::Op::sync_directory) == 2);
    disk.reboot({.names = false, .bytes = false});
    CHECK(disk.exists("scratch/me/run").value());
}

TEST_CASE("read_text: whole, bounded, and errors passed on") {
    SimStore disk;
    REQUIRE(sys::write_text_durable(disk, "m", "text"));
    CHECK(*sys::read_text(disk, "m", 4) == "text");
    const auto large = sys::read_text(disk, "m", 3);
    REQUIRE_FALSE(large);
    CHECK(large.error().kind == ErrorKind::corrupt);
    CHECK(large.error().what == "m has 4 bytes; the limit is 3");
    CHECK(sys::read_text(disk, "none", 3).error().kind == ErrorKind::missing);
    disk.fail(test::Op::read, 0, {ErrorKind::retry, "EIO"});
    CHECK(sys::read_text(disk, "m", 4).error().kind == ErrorKind::retry);
}

TEST_CASE("is_temporary: what write_text_durable leaves when it is killed, and nothing else") {
    test::SimStore disk;
    disk.crash_before(3);
    CHECK_FALSE(sys::write_text_durable(disk, "step-000120.h5", "text"));
    const auto left = disk.paths();
    REQUIRE(left.size() == 1);
    CHECK(sys::is_temporary(left.front()));
    for (const auto* name : {"", ".tmp", "manifest.json", ".manifest.json.tmp", ".a.12-0123456789abcde.tmp",
                             "a.12-0123456789abcdef.tmp", ".a.x-0123456789abcdef.tmp", ".a.-0123456789abcdef.tmp",
                             ".12-0123456789abcdef.tmp", ".a.12-0123456789abcdeg.tmp", ".a.12-0123456789abcdef.tmpx"})
        CHECK_FALSE(sys::is_temporary(name));
    CHECK(sys::is_temporary(".a.12-0123456789abcdef.tmp"));
}
