// Goal: a mapping is shared, private to its user, keeps its warm pages, and refuses every file that another user could
//       have put there.

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/base/bytes.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/place_in_file_system.hpp"
#include "core/sys/posix_mounts.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

ino_t inode_of(const std::string& path) {
    struct stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    return about.st_ino;
}

void check_refused(const std::string& path, const char* reason) {
    for (const auto& result : {Mapping::create(path, 4096), Mapping::open(path, true), Mapping::open(path, false)}) {
        REQUIRE_FALSE(result);
        CHECK(result.error().kind == ErrorKind::refused);
        CHECK_MESSAGE(result.error().text().find(reason) != std::string::npos, result.error().text());
    }
}

}  // namespace

TEST_CASE("create: 0600, reserved to the last byte, shared with those who open it") {
    const test::TempDirectory dir("/dev/shm");
    auto mapping = Mapping::create(dir / "m", 1u << 20);
    REQUIRE(mapping);
    CHECK(mapping->bytes().size() == 1u << 20);
    struct stat about {};
    REQUIRE(::stat((dir / "m").c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0600);
    CHECK(about.st_blocks * 512 == 1 << 20);
    auto other = Mapping::open(dir / "m", false);
    REQUIRE(other);
    CHECK(other->bytes().data() != mapping->bytes().data());
    mapping->bytes()[12345] = std::byte{42};
    CHECK(std::as_const(*other).bytes()[12345] == std::byte{42});
}

TEST_CASE("create again: the same file with its bytes; grown where it was smaller, never shrunk") {
    const test::TempDirectory dir("/dev/shm");
    { Mapping::create(dir / "m", 64u << 10).value().bytes()[100] = std::byte{7}; }
    const ino_t inode = inode_of(dir / "m");
    auto larger = Mapping::create(dir / "m", 128u << 10);
    REQUIRE(larger);
    CHECK(larger->bytes().size() == 128u << 10);
    CHECK(larger->bytes()[100] == std::byte{7});
    auto smaller = Mapping::create(dir / "m", 4096);
    REQUIRE(smaller);
    CHECK(smaller->bytes().size() == 4096);
    CHECK(std::filesystem::file_size(dir / "m") == 128u << 10);
    CHECK(inode_of(dir / "m") == inode);
}

TEST_CASE("create: a sparse file left by others' tools gets its pages now, not at a rank's copy") {
    const test::TempDirectory dir("/dev/shm");
    std::ofstream(dir / "m").close();
    std::filesystem::permissions(dir / "m", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::resize_file(dir / "m", 1u << 20);
    REQUIRE(Mapping::create(dir / "m", 1u << 20));
    struct stat about {};
    REQUIRE(::stat((dir / "m").c_str(), &about) == 0);
    CHECK(about.st_blocks * 512 == 1 << 20);
}

TEST_CASE("refused: links, second names, modes that let others in, other kinds of file") {
    const test::TempDirectory dir("/dev/shm");
    REQUIRE(Mapping::create(dir / "victim", 4096));
    std::filesystem::create_symlink(dir / "victim", dir / "link");
    check_refused(dir / "link", "symbolic link");
    std::filesystem::create_symlink(dir / "new", dir / "dangling");
    check_refused(dir / "dangling", "symbolic link");
    CHECK_FALSE(std::filesystem::exists(dir / "new"));
    REQUIRE(Mapping::create(dir / "twice", 4096));
    std::filesystem::create_hard_link(dir / "twice", dir / "second");
    check_refused(dir / "second", "2 names");
    REQUIRE(Mapping::create(dir / "open", 4096));
    REQUIRE(::chmod((dir / "open").c_str(), 0620) == 0);
    check_refused(dir / "open", "0620 gives other users access");
    REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
    check_refused(dir / "fifo", "not a regular file");
}

TEST_CASE("refused: a file of another user") {
    if (::geteuid() != 0) {
        MESSAGE("not tested: only root can give a file away");
        return;
    }
    const test::TempDirectory dir("/dev/shm");
    REQUIRE(Mapping::create(dir / "m", 4096));
    REQUIRE(::chown((dir / "m").c_str(), 65534, 65534) == 0);
    check_refused(dir / "m", "belongs to user 65534");
}

TEST_CASE("open: what is not there is missing, an empty file corrupt") {
    const test::TempDirectory dir("/dev/shm");
    CHECK(Mapping::open(dir / "m", true).error().kind == ErrorKind::missing);
    CHECK(Mapping::create(dir / "no/m", 4096).error().kind == ErrorKind::missing);
    CHECK(Mapping::create(dir / "m", 0).error().kind == ErrorKind::broken);
    CHECK_FALSE(std::filesystem::exists(dir / "m"));
    REQUIRE(Mapping::create(dir / "m", 4096));
    std::filesystem::resize_file(dir / "m", 0);
    CHECK(Mapping::open(dir / "m", true).error().kind == ErrorKind::corrupt);
}

TEST_CASE("create: more than this machine's memory is full, not the out-of-memory killer's business") {
    const test::TempDirectory dir("/dev/shm");
    const auto memory = memory_available();
    REQUIRE(memory);
    const auto failed = Mapping::create(dir / "m", round_up(*memory + (1u << 30), 4096));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::full);
    CHECK_FALSE(std::filesystem::exists(dir / "m"));
}

TEST_CASE("control groups: the least that any of them leaves, their clean cache counted as free") {
    const test::TempDirectory root;
    const auto group = [&](const std::string& path, const std::string& limit_name, const std::string& limit,
                           const std::string& usage_name, const std::string& usage, const std::string& stat) {
        std::filesystem::create_directories(root / path);
        std::ofstream(root / path + "/" + limit_name) << limit << "\n";
        std::ofstream(root / path + "/" + usage_name) << usage << "\n";
        std::ofstream(root / path + "/memory.stat") << stat;
    };
    CHECK_FALSE(group_memory_available("0::/\n", root / "."));
    group("job.slice/step", "memory.max", "max", "memory.current", "5000", "anon 1\ninactive_file 0\n");
    CHECK_FALSE(group_memory_available("0::/job.slice/step\n", root / "."));
    group("job.slice", "memory.max", "9000", "memory.current", "5000", "anon 1\ninactive_file 700\n");
    CHECK(group_memory_available("0::/job.slice/step\n", root / ".") == 4700);
    group("job.slice/step", "memory.max", "6000", "memory.current", "5000", "anon 1\ninactive_file 50\n");
    CHECK(group_memory_available("0::/job.slice/step\n", root / ".") == 1050);
    CHECK(group_memory_available("0::/job.slice\n", root / ".") == 4700);
    group("job.slice/step", "memory.max", "6000", "memory.current", "7000", "");
    CHECK(group_memory_available("0::/job.slice/step\n", root / ".") == 0);
    // Version 1 beside version 2: some machines have both.
    group("memory/slurm/job", "memory.limit_in_bytes", "3000", "memory.usage_in_bytes", "1000", "cache 1\n");
    CHECK(group_memory_available("9:cpu:/slurm\n4:memory:/slurm/job\n0::/\n", root / ".") == 2000);
    CHECK(group_memory_available("4:memory:/slurm/job\n0::/job.slice/step\n", root / ".") == 0);
    CHECK_FALSE(group_memory_available("", root / "."));
    CHECK_FALSE(group_memory_available("nonsense\n", root / "."));
}

TEST_CASE("prefault: inside the mapping, for writing or reading") {
    const test::TempDirectory dir("/dev/shm");
    auto mapping = Mapping::create(dir / "m", 10'000);
    REQUIRE(mapping);
    CHECK(mapping->prefault(0, 10'000));
    CHECK(mapping->prefault(9'999, 1));
    CHECK(mapping->prefault(10'000, 0));
    CHECK(mapping->prefault(1, 10'000).error().kind == ErrorKind::broken);
    CHECK(mapping->prefault(~0ull, 2).error().kind == ErrorKind::broken);
    auto reader = Mapping::open(dir / "m", false);
    REQUIRE(reader);
    CHECK(reader->prefault(0, 10'000));
    CHECK(reader->prefault(1, 10'000).error().kind == ErrorKind::broken);
}

TEST_CASE("moved: the mapping goes along, once") {
    const test::TempDirectory dir("/dev/shm");
    auto first = Mapping::create(dir / "a", 4096).value();
    auto second = Mapping::create(dir / "b", 8192).value();
    second.bytes()[0] = std::byte{5};
    first = std::move(second);
    CHECK(first.bytes().size() == 8192);
    CHECK(first.bytes()[0] == std::byte{5});
    CHECK_FALSE(second.mapped());  // NOLINT(bugprone-use-after-move)
    const Mapping third(std::move(first));
    CHECK(third.mapped());
    CHECK_FALSE(first.mapped());  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("mountinfo: by device, in the file system's own options only") {
    const char* text =
        "24 28 0:21 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw,size=1024k\n"
        "25 28 0:22 / /mnt/huge=always rw - tmpfs tmpfs rw\n"
        "26 28 0:23 / /mnt/a\\040b rw - tmpfs tmpfs rw,size=1024k,huge=always\n"
        "27 28 0:24 / /c rw shared:1 master:2 - tmpfs none rw,huge=within_size,size=9k\n"
        "28 28 0:2 / /d rw - tmpfs none rw,huge=advise\n"
        "29 28 0:25 / /e rw - tmpfs huge=always rw";
    CHECK_FALSE(mounted_huge(text, 0, 21));
    CHECK_FALSE(mounted_huge(text, 0, 22));
    CHECK(mounted_huge(text, 0, 23));
    CHECK(mounted_huge(text, 0, 24));
    CHECK_FALSE(mounted_huge(text, 0, 2));
    CHECK_FALSE(mounted_huge(text, 0, 25));
    CHECK_FALSE(mounted_huge(text, 0, 99));
    CHECK_FALSE(mounted_huge("", 0, 21));
    CHECK(page_bytes_of("/proc") == 4096);
    CHECK(page_bytes_of("/does/not/exist") == 4096);
}

TEST_CASE("mounts: those below a directory are told by their names, with what is escaped in them") {
    const std::string text =
        "24 28 0:21 / / rw - ext4 /dev/vda rw\n25 28 0:22 / /tree rw - tmpfs none rw\n"
        "26 28 0:23 / /tree/b\\040c\\134 rw - tmpfs none rw\n27 28 0:24 /x /tree/a/below rw,shared:1 - ext4 /dev/vda "
        "rw\n"
        "28 28 0:25 / /tree-other/x rw - tmpfs none rw\n29 28 0:26 / /tree/a/below rw - tmpfs none rw\n";
    CHECK(mount_points_below(text, "/tree") == std::vector<std::string>{"a/below", "b c\\"});
    CHECK(mount_points_below(text, "/tree/a/below").empty());
    CHECK(mount_points_below(text, "/").size() == 5 - 1);
    CHECK(place_in_mount(text, 24, "/a/") == "0:21/a/");
    CHECK(place_in_mount(text, 27, "/tree/a/below/c/") == "0:24/x/c/");
    CHECK(place_in_mount(text, 26, "/tree/b c\\/") == "0:23/");
    CHECK(place_in_mount(text, 26, "/elsewhere/").empty());
    CHECK(place_in_mount(text, 30, "/tree/").empty());
    CHECK(place_in_mount("31 1 0:50 / /n rw - nfs4 server:/a rw\n", 31, "/n/x/").empty());
}
