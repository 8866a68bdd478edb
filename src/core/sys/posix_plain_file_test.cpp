// Goal: a PlainFile makes the calls of its names and returns the system's errors, and its mapping is the file.
// Method: files that are short or missing, and directories in their place.

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "core/sys/machine.hpp"
#include "core/sys/plain_file.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using sys::PlainFile;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("plain file: what is written is read, at its place, and a short file is told") {
    const test::TempDirectory folder;
    const auto path = folder.path() + "/file";
    auto file = PlainFile::open(path, PlainFile::Use::create);
    REQUIRE(file);
    CHECK(file->write(3, bytes_of("abc")));
    CHECK(file->sync());
    CHECK(file->close());
    auto again = PlainFile::open(path, PlainFile::Use::read);
    REQUIRE(again);
    std::string back(4, '?');
    CHECK(again->forget_cached());
    CHECK(again->read(2, std::as_writable_bytes(std::span(back))));
    CHECK(back == std::string("\0abc", 4));
    const auto ended = again->read(4, std::as_writable_bytes(std::span(back)));
    REQUIRE_FALSE(ended);
    CHECK(ended.error().kind == ErrorKind::corrupt);
    CHECK_FALSE(again->write(0, bytes_of("x")));
}

TEST_CASE("plain file: opened to create, what is there stays; to update, it must be there") {
    const test::TempDirectory folder;
    const auto path = folder.path() + "/file";
    CHECK(PlainFile::open(path, PlainFile::Use::update).error().kind == ErrorKind::missing);
    {
        auto file = PlainFile::open(path, PlainFile::Use::create);
        REQUIRE(file);
        CHECK(file->write(0, bytes_of("stays")));
    }
    auto file = PlainFile::open(path, PlainFile::Use::create);
    REQUIRE(file);
    std::string back(5, '?');
    CHECK(file->read(0, std::as_writable_bytes(std::span(back))));
    CHECK(back == "stays");
}

TEST_CASE("plain file: a mapping is the file") {
    const test::TempDirectory folder;
    const auto path = folder.path() + "/file";
    auto file = PlainFile::open(path, PlainFile::Use::create);
    REQUIRE(file);
    CHECK(file->set_size(8));
    CHECK(file->reserve(0, 8));
    const auto map = file->map(8);
    REQUIRE(map);
    (*map)[7] = std::byte{42};
    CHECK(file->sync());
    CHECK(file->close());
    auto again = PlainFile::open(path, PlainFile::Use::read);
    std::array<std::byte, 1> back{};
    CHECK(again->read(7, back));
    CHECK(back[0] == std::byte{42});
}

TEST_CASE("mounts: the last one over a device is told, with its options, and an unknown device is not") {
    const auto mounts =
        "24 28 0:21 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=1024k\n"
        "29 1 259:3 / /scratch rw,relatime shared:1 - lustre 10.0.0.1@o2ib:/fs rw,flock\n";
    CHECK(sys::mount_in(mounts, 0, 21) == "tmpfs tmpfs on /dev/shm (rw,nosuid,rw,size=1024k)");
    CHECK(sys::mount_in(mounts, 259, 3) == "lustre 10.0.0.1@o2ib:/fs on /scratch (rw,relatime,rw,flock)");
    CHECK(sys::mount_in(mounts, 2, 1).empty());
    CHECK_FALSE(sys::mount_of("/dev/shm").empty());
}

TEST_CASE("plain calls: a directory and a file come and go, and what is wrong is an error") {
    const test::TempDirectory folder;
    const auto path = folder.path() + "/inner";
    CHECK(sys::plain_make_directory(path));
    CHECK_FALSE(sys::plain_make_directory(path));
    CHECK(sys::plain_stat(path));
    CHECK_FALSE(sys::plain_remove(path));
    CHECK(sys::plain_remove_directory(path));
    CHECK(sys::plain_stat(path).error().kind == ErrorKind::missing);
    CHECK(sys::plain_remove_directory(path).error().kind == ErrorKind::missing);
}
