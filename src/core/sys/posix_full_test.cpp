// Goal: on a full tmpfs every error is an Error with the sizes in it, and no rank ever sees a SIGBUS. Page sizes of
//       mounts are found. A store below a root changes nothing in mounts.
// Needs its own mount: root, or a user namespace; else it is skipped.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "core/sys/store_below.hpp"
#include "support/own_mounts.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

bool mount_at(const std::string& directory, const char* type, const char* options) {
    std::filesystem::create_directory(directory);
    return ::mount("none", directory.c_str(), type, 0, options) == 0;
}

}  // namespace

TEST_CASE("create on a full tmpfs: full, needed and free in the text, nothing taken") {
    const test::TempDirectory dir;
    const test::SmallTmpfs small(dir / "small", "1m");
    const auto failed = Mapping::create(small / "m", 2u << 20);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::full);
    CHECK_MESSAGE(failed.error().text().find("2097152 bytes") != std::string::npos, failed.error().text());
    CHECK_MESSAGE(failed.error().text().find(small / "m") != std::string::npos, failed.error().text());
    CHECK_MESSAGE(failed.error().text().find("1.05 MB free") != std::string::npos, failed.error().text());
    CHECK_FALSE(std::filesystem::exists(small / "m"));
    CHECK(*free_bytes(small.path()) == 1u << 20);
}

TEST_CASE("growing on a full tmpfs: the old size, the old bytes, the space given back") {
    const test::TempDirectory dir;
    const test::SmallTmpfs small(dir / "small", "1m");
    {
        auto mapping = Mapping::create(small / "m", 512u << 10);
        REQUIRE(mapping);
        std::memset(mapping->bytes().data(), 7, mapping->bytes().size());
    }
    CHECK(Mapping::create(small / "m", 4u << 20).error().kind == ErrorKind::full);
    CHECK(std::filesystem::file_size(small / "m") == 512u << 10);
    CHECK(*free_bytes(small.path()) == 512u << 10);
    auto again = Mapping::create(small / "m", 1u << 20);
    REQUIRE(again);
    CHECK(again->bytes()[(512u << 10) - 1] == std::byte{7});
}

TEST_CASE("what was reserved stays writable when others fill the tmpfs") {
    const test::TempDirectory dir;
    const test::SmallTmpfs small(dir / "small", "1m");
    auto mapping = Mapping::create(small / "m", 768u << 10);
    REQUIRE(mapping);
    const std::string filler(512u << 10, 'x');
    auto file = posix_store().open(small / "filler", Access::create).value();
    const auto written = file->write(0, bytes_of(filler));
    REQUIRE_FALSE(written);
    CHECK(written.error().kind == ErrorKind::full);
    CHECK(written.error().text().find("No space left on device") != std::string::npos);
    std::memset(mapping->bytes().data(), 1, mapping->bytes().size());  // a SIGBUS would end the test
    CHECK(mapping->prefault(0, mapping->bytes().size()));
}

TEST_CASE("a durable text on a full tmpfs: the old one stays, nothing is left behind") {
    const test::TempDirectory dir;
    const test::SmallTmpfs small(dir / "small", "1m");
    REQUIRE(write_text_durable(posix_store(), small / "t", "old"));
    CHECK(write_text_durable(posix_store(), small / "t", std::string(2u << 20, 'x')).error().kind == ErrorKind::full);
    CHECK(*read_text(posix_store(), small / "t", 100) == "old");
    CHECK(posix_store().list(small.path())->size() == 1);
}

TEST_CASE("page_bytes_of: small pages by default, 2 MiB where the mount says so, through links too") {
    const test::TempDirectory dir;
    const test::SmallTmpfs small(dir / "small", "1m");
    CHECK(page_bytes_of(small.path()) == 4096);
    for (const char* option : {"huge=always,size=8m", "huge=within_size,size=8m"}) {
        if (!mount_at(dir / "huge", "tmpfs", option)) {
            MESSAGE("not tested: this kernel has no huge pages in tmpfs");
            break;
        }
        CHECK(page_bytes_of(dir / "huge") == 2u << 20);
        std::error_code ignored;
        std::filesystem::create_directory_symlink(dir / "huge", dir / "link", ignored);
        CHECK(page_bytes_of(dir / "link") == 2u << 20);
        std::filesystem::create_directory(dir / "huge/below");
        CHECK(page_bytes_of(dir / "huge/below") == 2u << 20);
        auto mapping = Mapping::create(dir / "huge/m", 4u << 20);
        REQUIRE(mapping);
        CHECK(mapping->prefault(0, 4u << 20));
        ::umount2((dir / "huge").c_str(), MNT_DETACH);
    }
    if (mount_at(dir / "hugetlb", "hugetlbfs", "pagesize=2M")) {
        CHECK(page_bytes_of(dir / "hugetlb") == 2u << 20);
        ::umount2((dir / "hugetlb").c_str(), MNT_DETACH);
    }
}

TEST_CASE("what is mounted below the roots of a store is read, and never changed") {
    const test::TempDirectory dir;
    const auto root = dir / "root", other = dir / "other";
    auto& store = posix_store();
    const auto put = [&](const std::string& path) {
        REQUIRE(store.open(path, Access::create).value()->write(0, bytes_of("kept")));
    };
    for (const auto& path : {root, root + "/a", root + "/a/deep", root + "/own", other, other + "/below"})
        REQUIRE(store.make_directory(path));
    for (const auto& path : {other + "/file", other + "/below/file", root + "/own/file", root + "/own/bound"})
        put(path);
    const auto bind = [](const std::string& from, const std::string& to) {
        REQUIRE(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0);
    };
    bind(root, root);  // a root may be a mount
    bind(other, root + "/a/deep");
    bind(other + "/file", root + "/own/bound");

    const auto below = open_posix_store_below({root});
    const auto deep = root + "/a/deep";
    CHECK(below->list(deep).value().size() == 2);
    CHECK(read_text(*below, deep + "/below/file", 10).value() == "kept");
    CHECK(read_text(*below, root + "/own/bound", 10).value() == "kept");
    for (const auto access : {Access::create, Access::update})
        for (const auto& path : {deep + "/file", deep + "/new", deep + "/below/file", root + "/own/bound"})
            CHECK(below->open(path, access).error().kind == ErrorKind::refused);
    for (const auto& path : {deep, deep + "/below", root + "/a"})
        CHECK(below->remove_tree(path).error().kind == ErrorKind::refused);
    CHECK_FALSE(below->remove(deep + "/file"));
    CHECK_FALSE(below->make_directory(deep + "/new"));
    CHECK_FALSE(below->rename(root + "/own/file", deep + "/file"));
    CHECK_FALSE(below->rename(deep + "/file", root + "/own/file"));
    CHECK(store.list(other).value().size() == 2);
    CHECK(read_text(store, other + "/below/file", 10).value() == "kept");
    CHECK(read_text(store, other + "/file", 10).value() == "kept");
    CHECK(below->remove(root + "/own/file"));
    for (const auto& path : {root + "/own/bound", deep, root}) ::umount2(path.c_str(), MNT_DETACH);
    CHECK(below->remove_tree(root + "/a"));
    CHECK(store.list(other).value().size() == 2);
}

int main(int argc, char** argv) {
    if (!test::enter_own_mounts()) {
        std::printf("skipped: no mount of our own (unshare: %s)\n", std::strerror(errno));
        return 77;
    }
    doctest::Context context(argc, argv);
    return context.run();
}
