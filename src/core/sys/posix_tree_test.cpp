// Goal: directories reach only their own entries, follow no link and wait for no fifo, and report all properties of an
//       entry.
// Method: real directories with links that lead outside, invalid names, and attributes on every kind of entry.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/sys/tree.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using sys::EntryKind;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("tree: names that are not one component are refused by every call") {
    const test::TempDirectory directory;
    const auto folder = sys::open_posix_folder(directory.path()).value();
    using namespace std::string_literals;
    for (const auto& name : {""s, "."s, ".."s, "a/b"s, "/etc"s, "../x"s, "a\0b"s}) {
        CAPTURE(name);
        CHECK_FALSE(folder->status_of(name));
        CHECK_FALSE(folder->link_text(name));
        CHECK_FALSE(folder->attribute_names_of(name));
        CHECK_FALSE(folder->open_folder(name));
        CHECK_FALSE(folder->open_file(name));
        CHECK_FALSE(folder->reopen_file(name));
        CHECK_FALSE(folder->open_entry(name));
        CHECK_FALSE(folder->make_file(name, 0600));
        CHECK_FALSE(folder->make_folder(name, 0700));
        CHECK_FALSE(folder->make_link(name, "x"));
        CHECK_FALSE(folder->make_special(name, {.kind = EntryKind::fifo}));
        CHECK_FALSE(folder->make_hard_link(name, *folder, "a"));
        CHECK_FALSE(folder->rename(name, "b"));
        CHECK_FALSE(folder->remove(name));
        CHECK_FALSE(folder->remove_folder(name));
    }
    CHECK_FALSE(folder->make_link("link", "a\0b"s));
    CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("tree: no link is followed") {
    const test::TempDirectory directory, outside;
    write(outside / "secret", "secret");
    std::filesystem::create_symlink(outside / "secret", directory / "file");
    std::filesystem::create_directory_symlink(outside.path(), directory / "folder");
    const auto folder = sys::open_posix_folder(directory.path()).value();
    CHECK_FALSE(folder->open_file("file"));
    CHECK_FALSE(folder->reopen_file("file"));
    CHECK_FALSE(folder->open_folder("folder"));
    CHECK_FALSE(folder->make_file("file", 0600));
    CHECK(folder->status_of("file").value().kind == EntryKind::link);
    CHECK(folder->link_text("file").value() == outside / "secret");
    // Settings go to the link itself.
    const auto link = folder->open_entry("file").value();
    CHECK(link->status().value().kind == EntryKind::link);
    const auto before = sys::open_posix_folder(outside.path()).value()->status_of("secret").value();
    REQUIRE(link->set_times({.seconds = 1, .nanoseconds = 2}, {.seconds = 3, .nanoseconds = 4}));
    CHECK(folder->status_of("file").value().modified == sys::FileTime{3, 4});
    CHECK(sys::open_posix_folder(outside.path()).value()->status_of("secret").value().modified == before.modified);
}

TEST_CASE("tree: a fifo is made, looked at, and not waited for") {
    const test::TempDirectory directory;
    const auto folder = sys::open_posix_folder(directory.path()).value();
    REQUIRE(folder->make_special("fifo", {.kind = EntryKind::fifo}));
    CHECK(folder->status_of("fifo").value().kind == EntryKind::fifo);
    const auto file = folder->open_file("fifo");  // returns at once, and its status has the kind
    if (file) CHECK((*file)->status().value().kind == EntryKind::fifo);
    const auto entry = folder->open_entry("fifo").value();
    REQUIRE(entry->set_permissions(0640));
    REQUIRE(entry->set_times({}, {.seconds = -5, .nanoseconds = 7}));
    const auto status = folder->status_of("fifo").value();
    CHECK(status.permissions == 0640);
    CHECK(status.modified == sys::FileTime{-5, 7});
}

TEST_CASE("tree: listing, again and of many names") {
    const test::TempDirectory directory;
    const auto folder = sys::open_posix_folder(directory.path()).value();
    const std::string odd(255, '\xff');
    for (int i = 0; i < 2'000; ++i) REQUIRE(folder->make_file("a-name-of-some-length-" + std::to_string(i), 0600));
    REQUIRE(folder->make_folder(odd, 0700));
    for (int turn = 0; turn < 2; ++turn) {
        std::set<std::string> names;
        REQUIRE(folder->list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
            for (const auto& entry : listed) {
                CHECK(names.emplace(entry.name).second);
                CHECK(entry.kind == (entry.name == odd ? EntryKind::folder : EntryKind::file));
            }
            return {};
        }));
        CHECK(names.size() == 2'001);
        CHECK(names.contains(odd));
    }
}

TEST_CASE("tree: bytes, holes and attributes of files") {
    const test::TempDirectory directory("/dev/shm");
    const auto folder = sys::open_posix_folder(directory.path()).value();
    const auto file = folder->make_file("file", 0600).value();
    const std::string text = "some bytes";
    const auto bytes = std::as_bytes(std::span(text));
    REQUIRE(file->write(1 << 20, bytes));
    REQUIRE(file->resize(4 << 20));
    const auto data = file->next_data(0).value();
    REQUIRE(data);
    CHECK(data->begin == 1 << 20);
    CHECK_FALSE(file->next_data(data->end).value());
    const auto copy = folder->make_file("copy", 0600).value();
    REQUIRE(copy->copy_from(*file, 1 << 20, text.size()).value() == text.size());
    std::vector<std::byte> read(100);
    CHECK(copy->read(1 << 20, read).value() == text.size());
    CHECK(std::ranges::equal(std::span(read).first(text.size()), bytes));
    CHECK(file->attribute_names().value().empty());
    CHECK(file->attribute("user.none").error().kind == ErrorKind::missing);
    const auto taken = folder->make_file("file", 0600);
    REQUIRE_FALSE(taken);
    CHECK(taken.error().kind == ErrorKind::refused);
    CHECK(folder->status_of("none").error().kind == ErrorKind::missing);
}

TEST_CASE("tree: what lies in what, and who copies alone") {
    const test::TempDirectory directory;
    std::filesystem::create_directories(directory / "a/b/c");
    const auto top = sys::open_posix_folder(directory.path()).value();
    const auto deep = sys::open_posix_folder(directory / "a/b/c").value();
    CHECK(deep->lies_in(top->status().value().id).value());
    CHECK(deep->lies_in(deep->status().value().id).value());
    CHECK_FALSE(top->lies_in(deep->status().value().id).value());
    CHECK(top->lock_alone().value());
    const auto other = sys::open_posix_folder(directory.path()).value();
    CHECK_FALSE(other->lock_alone().value());
}
