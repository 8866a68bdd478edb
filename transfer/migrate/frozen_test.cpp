// Goal: any change of a frozen source is detected, even behind old times. A partial removal is no change.
// Method: a small tree; makes each kind of change and looks for it.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temp_directory.hpp"
#include "transfer/migrate/frozen.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

struct Source {
    forebay::test::TempDirectory directory;
    std::string path = directory / "source";
    Source() {
        fs::create_directories(directory / "older");
        write(directory / "older/four", "four");
        fs::create_directories(path + "/below");
        for (const auto* name : {"/one", "/two", "/below/three"}) write(path + name, name);
        fs::create_hard_link(path + "/one", path + "/below/same");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the kernel's clock ticks every 4 ms or 10 ms
    }
    migrate::Frozen now(migrate::FrozenInodes* inodes = nullptr) const {
        return migrate::frozen_now(path, {.threads = 2}, inodes).value();
    }
};

void check_seen(const char* what, void (*change)(const std::string&)) {
    const Source source;
    const auto before = source.now();
    CHECK(before.entries == 6);
    CHECK(source.now() == before);
    change(source.path);
    CHECK_MESSAGE(source.now() != before, what);
}

}  // namespace

TEST_CASE("changes") {
    check_seen("other bytes, with the old size and time", [](const std::string& path) {
        const auto time = fs::last_write_time(path + "/two");
        write(path + "/two", "/owt");
        fs::last_write_time(path + "/two", time);
    });
    check_seen("another name", [](const std::string& path) { fs::rename(path + "/two", path + "/2"); });
    check_seen("a new entry", [](const std::string& path) { write(path + "/new", ""); });
    check_seen("one less", [](const std::string& path) { fs::remove(path + "/below/three"); });
    check_seen("permissions", [](const std::string& path) { fs::permissions(path + "/two", fs::perms::none); });
    check_seen("a further name", [](const std::string& path) { fs::create_hard_link(path + "/two", path + "/2"); });
}

TEST_CASE("what is added while a source is being removed is found, and what the removal does is not") {
    const Source source;
    migrate::FrozenInodes inodes;
    const auto frozen = source.now(&inodes);
    CHECK(inodes.linked.size() == 1);
    CHECK(inodes.folders.size() == 2);
    const auto changed = [&](const migrate::FrozenInodes& known) {
        return migrate::changed_while_removed(source.path, frozen, {.threads = 2}, known).value();
    };
    CHECK(changed(inodes).empty());
    fs::remove(source.path + "/one");
    fs::remove(source.path + "/two");
    CHECK(changed(inodes).empty());
    CHECK(changed({.linked = {}, .folders = inodes.folders}) == "below/same");
    fs::rename(source.directory / "older", source.path + "/below/older");  // its file is older than the freeze
    CHECK(changed(inodes) == "below/older");
    fs::rename(source.path + "/below/older", source.directory / "older");
    write(source.path + "/below/late", "");
    CHECK(changed(inodes) == "below/late");
    fs::remove(source.path + "/below/late");
    // As `cp -p` of an older file does: by the ctime alone it looks like the removal of a name.
    const auto time = fs::last_write_time(source.path + "/below/same");
    write(source.path + "/below/same", "other");
    fs::last_write_time(source.path + "/below/same", time);
    CHECK(changed(inodes) == "below/same");
}

TEST_CASE("a walk that is to stop, or cannot see all, gives no answer") {
    const Source source;
    const auto stopped = migrate::frozen_now(source.path, {.go_on = []() -> Result<> {
                                                 return Error{ErrorKind::retry, "stop"};
                                             }});
    CHECK(stopped.error().what == "stop");
    CHECK(migrate::frozen_now(source.path + "/none", {}).error().kind == ErrorKind::missing);
}

TEST_CASE("a list of inodes is read as it was written, and no other text is one") {
    const migrate::FrozenInodes inodes{.linked = {{2, 7}, {11, UINT64_MAX}, {UINT64_MAX, 0}}, .folders = {1, 12}};
    CHECK(migrate::text_of({.linked = {{2, 7}}, .folders = {3}}) == "2 0000000000000007\n3/\n");
    CHECK(migrate::inodes_from(migrate::text_of(inodes), "a.links").value() == inodes);
    CHECK(migrate::inodes_from("", "a.links").value() == migrate::FrozenInodes{});
    for (const auto* text :
         {"2 0000000000000007", "2 0000000000000007\n11", "x\n", "2\n", "2 7\n", "2 00000000000000070\n",
          "2 000000000000000x\n", "11 0000000000000007\n2 0000000000000007\n",
          "2 0000000000000007\n2 0000000000000007\n", "2 0000000000000007\n\n", "18446744073709551616/\n", "-2/\n",
          "2 \n", "2/\n3 0000000000000007\n", "3/\n2/\n", "2//\n", "2/"}) {
        CAPTURE(text);
        CHECK(migrate::inodes_from(text, "a.links").error().kind == ErrorKind::corrupt);
    }
}
