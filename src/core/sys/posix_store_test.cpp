// Goal: the real store keeps the promises of store.hpp, reports the failed path, and never follows or hangs on anything
//       in the place of a file.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core/base/bytes.hpp"
#include "core/sys/store.hpp"
#include "core/sys/store_below.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

std::unique_ptr<File> make(const std::string& path, Access access = Access::create) {
    return posix_store().open(path, access).value();
}

void put(const std::string& path, std::string_view text) { make(path)->write(0, bytes_of(text)).value(); }

std::string get(const std::string& path) { return read_text(posix_store(), path, 4 << 20).value(); }

/// How many pages of a file are in this machine's cache.
std::ptrdiff_t cached_pages(const std::string& path) {
    const auto bytes = posix_store().open(path, Access::read).value()->size().value();
    const int fd = ::open(path.c_str(), O_RDONLY);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    REQUIRE(mapped != MAP_FAILED);
    std::vector<unsigned char> pages((bytes + 4095) / 4096);
    REQUIRE(::mincore(mapped, bytes, pages.data()) == 0);
    ::munmap(mapped, bytes);
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
}

mode_t mode_of(const std::string& path) {
    struct stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    return about.st_mode & 07777;
}

}  // namespace

TEST_CASE("a file: written anywhere, read back, cut, emptied by the next create") {
    const test::TempDirectory dir;
    auto file = make(dir / "f");
    CHECK_FALSE(file->direct());
    CHECK(file->write(3, bytes_of("def")));
    CHECK(file->write(0, bytes_of("abc")));
    CHECK(file->sync());
    CHECK(*file->size() == 6);
    CHECK(file->truncate(4));
    CHECK(file->close());
    CHECK(file->close());
    CHECK(get(dir / "f") == "abcd");
    CHECK(*make(dir / "f")->size() == 0);
}

TEST_CASE("read: a file that ends before is corrupt, and the text says where") {
    const test::TempDirectory dir;
    put(dir / "f", "abcd");
    auto file = make(dir / "f", Access::read);
    std::array<std::byte, 3> bytes{};
    CHECK(file->read(1, bytes));
    CHECK(text_of(bytes) == "bcd");
    const auto beyond = file->read(2, bytes);
    REQUIRE_FALSE(beyond);
    CHECK(beyond.error().kind == ErrorKind::corrupt);
    CHECK(beyond.error().text().find("truncated: it ends at 4, but bytes 2 to 4") != std::string::npos);
    CHECK(beyond.error().text().find(dir / "f") != std::string::npos);
}

TEST_CASE("open: kinds of error, and the mode of what is created") {
    const test::TempDirectory dir;
    CHECK(posix_store().open(dir / "none", Access::read).error().kind == ErrorKind::missing);
    CHECK(posix_store().open(dir / "none", Access::read_direct).error().kind == ErrorKind::missing);
    CHECK(forget_cached(dir / "none").error().kind == ErrorKind::missing);
    CHECK(posix_store().open(dir / "no/f", Access::create).error().kind == ErrorKind::missing);
    CHECK(posix_store().open(dir.path(), Access::create).error().kind == ErrorKind::refused);
    CHECK(posix_store().open(dir.path(), Access::read).error().kind == ErrorKind::refused);
    const auto error = posix_store().open(dir / "none", Access::read).error().what;
    CHECK(error == "open: " + (dir / "none") + ": No such file or directory");
    const mode_t before = ::umask(027);
    put(dir / "f", "x");
    ::umask(before);
    CHECK(mode_of(dir / "f") == 0640);
}

TEST_CASE("open: links are not followed for writing, and a FIFO does not hang us") {
    const test::TempDirectory dir;
    put(dir / "victim", "precious");
    std::filesystem::create_symlink(dir / "victim", dir / "link");
    const auto through = posix_store().open(dir / "link", Access::create);
    REQUIRE_FALSE(through);
    CHECK(through.error().kind == ErrorKind::refused);
    CHECK(through.error().text().find("symbolic link") != std::string::npos);
    CHECK(get(dir / "victim") == "precious");
    CHECK(get(dir / "link") == "precious");  // reading may follow
    REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
    CHECK(posix_store().open(dir / "fifo", Access::create).error().kind == ErrorKind::refused);
    CHECK(posix_store().open(dir / "fifo", Access::read).error().kind == ErrorKind::refused);
}

TEST_CASE("create_direct: past the page cache where the file system can, else buffered, the same bytes") {
    void* pages = std::aligned_alloc(4096, 8192);
    const std::span<std::byte> bytes(static_cast<std::byte*>(pages), 8192);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
    for (const char* parent : {"/tmp", "/dev/shm"}) {
        CAPTURE(parent);
        const test::TempDirectory dir(parent);
        auto file = make(dir / "f", Access::create_direct);
        CAPTURE(file->direct());
        CHECK(file->write(4096, bytes));
        CHECK(file->write(0, bytes.first(4096)));
        if (file->direct()) {
            const auto odd = file->write(0, bytes.first(100));
            REQUIRE_FALSE(odd);
            CHECK(odd.error().kind == ErrorKind::broken);
        } else {
            CHECK(file->write(0, bytes.first(100)));
        }
        CHECK(file->sync());
        const std::string text = get(dir / "f");
        CHECK(text.substr(4096) == text_of(bytes));
        CHECK(text.substr(0, 4096) == text_of(bytes.first(4096)));
        CHECK(forget_cached(dir / "f"));
        auto reader = posix_store().open(dir / "f", Access::read_direct).value();
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
        CHECK(reader->read(4096, bytes));
        CHECK(text_of(bytes) == text.substr(4096));
        CHECK(reader->read(5, bytes.first(100)));  // unaligned bytes, by whole pages
        CHECK(text_of(bytes.first(100)) == text.substr(5, 100));
        CHECK(reader->read(8192, bytes).error().kind == ErrorKind::corrupt);
        CHECK_FALSE(reader->write(0, bytes));
    }
    std::free(pages);
}

TEST_CASE("make_directories: any depth, again, and never over a file") {
    const test::TempDirectory dir;
    CHECK(posix_store().make_directories(dir / "a/b/c"));
    CHECK(posix_store().make_directories(dir / "a/b/c"));
    CHECK(posix_store().make_directories(dir / "a/b/d/"));
    CHECK(std::filesystem::is_directory(dir / "a/b/d"));
    put(dir / "a/f", "x");
    CHECK(posix_store().make_directories(dir / "a/f").error().kind == ErrorKind::refused);
    CHECK(posix_store().make_directories(dir / "a/f/g").error().kind == ErrorKind::refused);
    CHECK(posix_store().make_directories("").error().kind == ErrorKind::refused);
}

TEST_CASE("rename: replaces a file, moves a directory with all in it, refuses a full directory") {
    const test::TempDirectory dir;
    Store& store = posix_store();
    put(dir / "new", "new");
    put(dir / "old", "old");
    CHECK(store.rename(dir / "new", dir / "old"));
    CHECK(get(dir / "old") == "new");
    CHECK_FALSE(*store.exists(dir / "new"));
    CHECK(store.make_directories(dir / "part/nodes"));
    put(dir / "part/nodes/n0", "0");
    CHECK(store.rename(dir / "part", dir / "step"));
    CHECK(get(dir / "step/nodes/n0") == "0");
    CHECK(store.make_directories(dir / "part/nodes"));
    const auto over = store.rename(dir / "part", dir / "step");
    REQUIRE_FALSE(over);
    CHECK(over.error().kind == ErrorKind::refused);
    CHECK(over.error().what.find("rename to " + (dir / "step")) == 0);
    CHECK(store.rename(dir / "none", dir / "x").error().kind == ErrorKind::missing);
    CHECK(store.sync_directory(dir.path()));
    CHECK(store.sync_directory(dir / "none").error().kind == ErrorKind::missing);
}

TEST_CASE("remove: a file or nothing; never a directory") {
    const test::TempDirectory dir;
    put(dir / "f", "x");
    CHECK(posix_store().remove(dir / "f"));
    CHECK(posix_store().remove(dir / "f"));
    CHECK_FALSE(*posix_store().exists(dir / "f"));
    CHECK_FALSE(posix_store().remove(dir.path()));
    CHECK(*posix_store().exists(dir.path()));
}

TEST_CASE("remove_tree: everything below, links as links, nothing outside") {
    const test::TempDirectory dir;
    Store& store = posix_store();
    CHECK(store.make_directories(dir / "tree/a/b"));
    CHECK(store.make_directories(dir / "outside"));
    for (int i = 0; i < 300; ++i) put(dir / ("tree/a/b/f" + std::to_string(i)), "x");
    put(dir / "outside/precious", "x");
    std::filesystem::create_symlink(dir / "outside", dir / "tree/a/link");
    std::filesystem::create_symlink(dir / "outside", dir / "link");
    CHECK(store.remove_tree(dir / "link"));
    CHECK_FALSE(*store.exists(dir / "link"));
    CHECK(get(dir / "outside/precious") == "x");
    CHECK(store.remove_tree(dir / "tree"));
    CHECK_FALSE(*store.exists(dir / "tree"));
    CHECK(get(dir / "outside/precious") == "x");
    CHECK(store.remove_tree(dir / "tree"));
    CHECK(store.remove_tree(dir / "outside/precious").error().kind == ErrorKind::refused);
    CHECK(*store.exists(dir / "outside/precious"));
}

TEST_CASE("list: sorted, with sizes, dots included but the two; missing where there is no directory") {
    const test::TempDirectory dir;
    put(dir / "b", "12345");
    put(dir / ".a", "1");
    CHECK(posix_store().make_directories(dir / "c/d"));
    std::filesystem::create_symlink("nowhere", dir / "dangling");
    std::filesystem::create_symlink("b", dir / "link");
    std::filesystem::create_directory_symlink("c", dir / "way");
    const auto entries = posix_store().list(dir.path()).value();
    REQUIRE(entries.size() == 6);
    CHECK(entries[0].name == ".a");
    CHECK(entries[1].name == "b");
    CHECK(entries[1].size == 5);
    CHECK(entries[2].name == "c");
    CHECK(entries[2].is_directory);
    CHECK_FALSE(entries[2].is_link);
    CHECK(entries[3].name == "dangling");
    CHECK(entries[3].is_link);
    CHECK_FALSE(entries[3].is_directory);
    CHECK_FALSE(entries[4].is_link);
    CHECK(entries[4].size == 5);
    CHECK(entries[5].is_directory);
    CHECK(entries[5].is_link);
    CHECK(posix_store().list(dir / "none").error().kind == ErrorKind::missing);
    CHECK(posix_store().list(dir / "b").error().kind == ErrorKind::refused);
}

TEST_CASE("exists: names, also of links that lead nowhere; a file has nothing below") {
    const test::TempDirectory dir;
    put(dir / "f", "x");
    std::filesystem::create_symlink("nowhere", dir / "dangling");
    CHECK(*posix_store().exists(dir / "f"));
    CHECK(*posix_store().exists(dir / "dangling"));
    CHECK_FALSE(*posix_store().exists(dir / "none"));
    CHECK_FALSE(*posix_store().exists(dir / "f/below"));
}

TEST_CASE("read_text and write_text_durable: limits, no leavings, the old text after an error") {
    const test::TempDirectory dir;
    Store& store = posix_store();
    CHECK(write_text_durable(store, dir / "m", "one"));
    CHECK(write_text_durable(store, dir / "m", "second"));
    CHECK(get(dir / "m") == "second");
    CHECK(store.list(dir.path())->size() == 1);
    CHECK(*read_text(store, dir / "m", 6) == "second");
    CHECK(read_text(store, dir / "m", 5).error().kind == ErrorKind::corrupt);
    CHECK(store.make_directories(dir / "d/full"));
    const auto over = write_text_durable(store, dir / "d", "x");
    REQUIRE_FALSE(over);
    CHECK(over.error().kind == ErrorKind::refused);
    CHECK(store.list(dir.path())->size() == 2);
    CHECK(write_text_durable(store, dir / "no/m", "x").error().kind == ErrorKind::missing);
}

// Also pages of other programs: the cache may hold bytes from before a write that it has not seen.
TEST_CASE("read_direct: any bytes up to the end, from storage, and nothing of the file stays in the cache") {
    const std::string text = [] {
        std::string bytes;
        for (int i = 0; i < 2'500'000; ++i) bytes.push_back(static_cast<char>(i * 7 % 251));
        return bytes;
    }();
    for (const char* parent : {"/tmp", "/dev/shm"}) {
        CAPTURE(parent);
        const test::TempDirectory dir(parent);
        put(dir / "f", text);
        forget_cached(dir / "f").value();
        CHECK(get(dir / "f") == text);
        const bool is_cached = cached_pages(dir / "f") != 0;
        CHECK(is_cached);
        const auto reader = posix_store().open(dir / "f", Access::read_direct).value();
        const bool direct = reader->direct(),
                   is_memory = std::string(parent) == "/dev/shm";  // no hint removes pages from memory
        for (const auto& [offset, size] :
             {std::pair{0, 2'500'000}, {2'499'999, 1}, {4095, 2}, {4096, 8192}, {5, 100}}) {
            std::string content(static_cast<std::size_t>(size), '\0');
            CHECK(reader->read(static_cast<std::uint64_t>(offset), std::as_writable_bytes(std::span(content))));
            CHECK(content == text.substr(static_cast<std::size_t>(offset), content.size()));
            CHECK((cached_pages(dir / "f") != 0) == is_memory);
        }
        CHECK(reader->direct() == direct);
        std::string past(2, '\0');
        const auto cut = reader->read(2'499'999, std::as_writable_bytes(std::span(past)));
        REQUIRE_FALSE(cut);
        CHECK(cut.error().kind == ErrorKind::corrupt);
        CHECK(cut.error().what.find("ends at 2500000") != std::string::npos);
    }
}

TEST_CASE("below its roots no link is followed, and nothing else is reached") {
    const test::TempDirectory dir;
    auto& store = posix_store();
    const auto root = dir / "named", outside = dir / "outside";
    for (const auto& path : {dir / "real", dir / "real/a", outside}) REQUIRE(store.make_directory(path));
    put(dir / "real/a/file", "inside");
    put(outside + "/file", "outside");
    REQUIRE(::symlink("real", root.c_str()) == 0);  // the user of the root may mean a link
    REQUIRE(::symlink(outside.c_str(), (root + "/link").c_str()) == 0);
    REQUIRE(::symlink((outside + "/file").c_str(), (root + "/a/link").c_str()) == 0);

    const auto below = open_posix_store_below({root + "/"});
    CHECK(read_text(*below, root + "/a/file", 100).value() == "inside");
    CHECK(below->exists(root + "/a/file").value());
    CHECK_FALSE(below->exists(root + "/b/file").value());
    const auto entries = below->list(root).value();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].is_directory);
    CHECK_FALSE(entries[1].is_directory);
    for (const auto& path : {root + "/a/link", root + "/link/file", root + "/../outside/file", outside + "/file"}) {
        CHECK(below->open(path, Access::read).error().kind == ErrorKind::refused);
        CHECK(below->open(path, Access::create).error().kind == ErrorKind::refused);
    }
    CHECK(below->list(root + "/link").error().kind == ErrorKind::refused);
    CHECK_FALSE(below->sync_directory(root + "/link"));
    CHECK_FALSE(below->make_directory(root + "/link"));
    CHECK_FALSE(below->make_directory(root + "/link/new"));
    CHECK_FALSE(below->remove(root + "/link/file"));
    CHECK_FALSE(below->remove_tree(root + "/link/file"));
    CHECK_FALSE(below->rename(root + "/a/file", root + "/link/file"));
    CHECK(below->make_directory(root + "/a/new"));
    CHECK(below->rename(root + "/a/file", root + "/a/new/file"));
    CHECK(below->remove_tree(root + "/a"));
    CHECK(below->remove_tree(root + "/link"));  // removes the link itself
    CHECK(get(outside + "/file") == "outside");
    CHECK(below->list(root).value().empty());
}
