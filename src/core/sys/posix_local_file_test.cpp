// Goal: a file is removed, read or renamed only if it is the file seen before, whatever other programs do at the same
//       moment.
// Method: a real directory. This executable defines some of libc's calls, and the library finds these first. So another
//         program may act just before each call.

#include "core/sys/local_file.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "support/packed_files.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using test::content_of;
using test::put;
namespace fs = std::filesystem;

namespace {

std::function<void()> before_rename, before_free_rename;  // for the next rename
int free_rename_fails = 0;                                // errno of the next rename
int names_until_fault = -1;                               // for the next directory that is read; -1: no fault

void act(std::function<void()>& other) {
    if (const auto now = std::exchange(other, nullptr)) now();
}

}  // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
    act(before_rename);
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
    act(before_free_rename);
    if (const int number = std::exchange(free_rename_fails, 0); number != 0) return errno = number, -1;
    return static_cast<int>(::syscall(SYS_renameat2, from_at, from, to_at, to, flags));
}

extern "C" struct dirent* readdir(DIR* directory) {
    static const auto honest = reinterpret_cast<struct dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
    if (names_until_fault < 0 || names_until_fault-- > 0) return honest(directory);
    errno = EIO;
    return nullptr;
}

TEST_CASE("what is seen: kind, size, mode and time, through no link") {
    const test::TempDirectory folder("/dev/shm");
    put(folder / "file", "abc");
    fs::permissions(folder / "file", fs::perms(0640));
    fs::create_symlink("file", folder / "link");
    const auto file = sys::look_at(folder / "file").value();
    CHECK(file.kind == sys::LocalFile::Kind::file);
    CHECK(file.bytes == 3);
    CHECK(file.mode == 0640);
    CHECK(sys::look_at(folder.path()).value().kind == sys::LocalFile::Kind::directory);
    CHECK(sys::look_at(folder / "link").value().kind == sys::LocalFile::Kind::other);
    CHECK(sys::look_at(folder / "none").error().kind == ErrorKind::missing);
    auto names = sys::names_in(folder.path()).value();
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"file", "link"});
    fs::create_directory_symlink(folder.path(), folder / "inside");
    CHECK(sys::names_in(folder / "inside").error().kind == ErrorKind::refused);
    CHECK(sys::names_in(folder / "inside/.").value().size() == 3);
}

TEST_CASE("a time beyond 64 bits of nanoseconds is the nearest that they hold, and goes back as it is") {
    using Limits = std::numeric_limits<std::int64_t>;
    const test::TempDirectory folder("/dev/shm");
    put(folder / "file", "");
    const auto set = [&](std::int64_t seconds, long ns) {
        const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = ns}, {.tv_sec = seconds, .tv_nsec = ns}};
        REQUIRE(::utimensat(AT_FDCWD, (folder / "file").c_str(), times, 0) == 0);
        return sys::look_at(folder / "file").value().modified_unix_ns;
    };
    CHECK(set(-20'000'000'000, 0) == Limits::min());
    CHECK(set(20'000'000'000, 0) == Limits::max());
    CHECK(set(-1, 999'999'999) == -1);
    for (const auto ns : {Limits::min(), std::int64_t{-5'300'000'000}, std::int64_t{-1}, std::int64_t{0},
                          std::int64_t{1'700'000'000'123'456'789}, Limits::max()}) {
        REQUIRE(sys::set_mode_and_time(folder / "file", 0604, ns));
        const auto seen = sys::look_at(folder / "file").value();
        CHECK(seen.modified_unix_ns == ns);
        CHECK(seen.mode == 0604);
    }
}

TEST_CASE("a file that is another by now is neither read nor removed") {
    const test::TempDirectory folder;
    const auto path = folder / "file";
    put(path, "old");
    const auto old = sys::look_at(path).value();
    CHECK(sys::open_seen(path, old).has_value());
    put(folder / "new", "new");
    fs::rename(folder / "new", path);
    CHECK(sys::open_seen(path, old).error().kind == ErrorKind::missing);
    CHECK_FALSE(sys::remove_seen(path, old).value());
    CHECK(content_of(path) == "new");
    const auto renewed = sys::look_at(path).value();
    std::ofstream(path, std::ios::app) << "er";
    CHECK_FALSE(sys::remove_seen(path, renewed).value());
    CHECK(sys::remove_seen(path, sys::look_at(path).value()).value());
    CHECK_FALSE(sys::remove_seen(path, renewed).value());
    CHECK(fs::is_empty(folder.path()));
    // Written again, with the same size and time.
    put(path, "same");
    const auto before = sys::look_at(path).value();
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                               {.tv_sec = before.modified_s, .tv_nsec = before.modified_ns}};
    do {
        put(path, "SAME");
        REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    } while (sys::look_at(path).value() == before);  // the file system's clock ticks every few ms
    CHECK_FALSE(sys::remove_seen(path, before).value());
    CHECK(sys::remove_seen(path, sys::look_at(path).value()).value());
    fs::create_symlink("elsewhere", path);
    CHECK(sys::open_seen(path, renewed).error().kind == ErrorKind::missing);
    CHECK(sys::remove_seen(path, sys::look_at(path).value()).value());
}

TEST_CASE("names are taken only when they are free, and only empty directories go") {
    const test::TempDirectory folder;
    put(folder / "a", "of a");
    put(folder / "b", "of b");
    CHECK(sys::create_new(folder / "a").error().kind == ErrorKind::refused);
    fs::create_symlink("nowhere", folder / "link");
    CHECK(sys::create_new(folder / "link").error().kind == ErrorKind::refused);
    CHECK(sys::rename_to_free(folder / "a", folder / "b").error().kind == ErrorKind::refused);
    CHECK(sys::rename_to_free(folder / "a", folder / "link").error().kind == ErrorKind::refused);
    CHECK(content_of(folder / "b") == "of b");
    CHECK(sys::rename_to_free(folder / "a", folder / "c").has_value());
    CHECK(content_of(folder / "c") == "of a");
    fs::create_directory(folder / "d");
    put(folder / "d/e", "");
    CHECK_FALSE(sys::remove_empty(folder / "d").value());
    fs::remove(folder / "d/e");
    CHECK(sys::remove_empty(folder / "d").value());
    CHECK(sys::remove_empty(folder / "d").value());
    CHECK_FALSE(sys::remove_empty(folder / "c").has_value());
    const auto name = sys::random_name_beside(folder / "c");
    CHECK(name.starts_with(folder / ".forebay-"));
    CHECK(name != sys::random_name_beside(folder / "c"));
}

TEST_CASE("a file that gets its name while the one before it is removed stays") {
    for (const int refused : {0, EINVAL}) {  // EINVAL: a file system without renames that replace nothing
        CAPTURE(refused);
        const test::TempDirectory folder;
        const auto path = folder / "file";
        const auto put_in_place = [&](const std::string& content) {
            put(folder / ".next", content);
            REQUIRE(::renameat(AT_FDCWD, (folder / ".next").c_str(), AT_FDCWD, path.c_str()) == 0);
        };
        put(path, "first");
        before_rename = [&] { put_in_place("second"); };
        free_rename_fails = refused;
        CHECK_FALSE(sys::remove_seen(path, sys::look_at(path).value()).value());
        CHECK(test::files_in(folder.path()) == test::Contents{{"file", "second"}});
        // The third file replaces the second, so its program has given the second up.
        before_rename = [&] { put_in_place("third"); };
        before_free_rename = [&] { put_in_place("fourth"); };
        free_rename_fails = refused;
        CHECK_FALSE(sys::remove_seen(path, sys::look_at(path).value()).value());
        CHECK(test::files_in(folder.path()) == test::Contents{{"file", "fourth"}});
        CHECK(sys::remove_seen(path, sys::look_at(path).value()).value());
        CHECK(fs::is_empty(folder.path()));
    }
}

TEST_CASE("a file system without renames that replace nothing gives a free name too, and none that is taken") {
    const test::TempDirectory folder;
    put(folder / "a", "of a");
    put(folder / "b", "of b");
    free_rename_fails = EINVAL;
    CHECK(sys::rename_to_free(folder / "a", folder / "b").error().kind == ErrorKind::refused);
    free_rename_fails = EINVAL;
    REQUIRE(sys::rename_to_free(folder / "a", folder / "c"));
    CHECK(test::files_in(folder.path()) == test::Contents{{"b", "of b"}, {"c", "of a"}});
}

TEST_CASE("a directory that cannot be read to its end is an error, not a shorter one") {
    const test::TempDirectory folder;
    for (int i = 0; i < 5; ++i) put(folder / std::to_string(i), "");
    names_until_fault = 3;
    CHECK(sys::names_in(folder.path()).error().kind == ErrorKind::retry);
    CHECK(sys::names_in(folder.path()).value().size() == 5);
}
