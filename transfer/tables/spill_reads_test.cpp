// Goal: a table of inodes makes no system call while it fits into memory. Beyond, a lookup outside memory costs one
// read.
// Method: counts the calls of pread and pwrite by this process. Uses a table of 64 pages with 4,000 inodes and with
// 40,000, then 150,000 inodes of two names, met in turn, with the limits of a copy.

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transfer/tables/hard_links.hpp"

using namespace forebay;

namespace {

std::uint64_t reads = 0, writes = 0;
constexpr std::size_t page_bytes = 4096;

sys::EntryId inode(std::uint64_t number) { return {1, number}; }

}  // namespace

extern "C" ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
    ++reads;
    return ::syscall(SYS_pread64, fd, data, bytes, offset);
}

extern "C" ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
    ++writes;
    return ::syscall(SYS_pwrite64, fd, data, bytes, offset);
}

TEST_CASE("spill_reads: a table in memory makes no call") {
    tree::InodeMap<std::uint64_t> map(64 * page_bytes);
    reads = writes = 0;
    for (std::uint64_t i = 0; i < 4'000; ++i) REQUIRE(map.put(inode(i), i));
    for (std::uint64_t i = 0; i < 4'000; ++i) REQUIRE(map.find(inode(i)).value() == i);
    CHECK_FALSE(map.find(inode(4'000)).value());
    for (std::uint64_t i = 0; i < 4'000; ++i) REQUIRE(map.erase(inode(i)));
    CHECK(map.is_empty());
    CHECK(reads == 0);
    CHECK(writes == 0);
}

TEST_CASE("spill_reads: beyond memory a look costs one read, and none where the page is there") {
    tree::InodeMap<std::uint64_t> map(64 * page_bytes);
    constexpr std::uint64_t count = 40'000;
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(map.put(inode(i), i));
    reads = writes = 0;
    std::uint64_t wrong = 0, in_memory = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto before = reads;
        const bool is_held = map.holds(inode(i));
        if (map.find(inode(i)).value() != i || reads - before != (is_held ? 0u : 1u)) ++wrong;
        in_memory += is_held;
    }
    CHECK(wrong == 0);
    CHECK(reads == count - in_memory);
    CHECK(in_memory > count / 10);  // 64 of about 340 pages
    CHECK(writes <= 64);            // pages changed before
    const auto before = writes;
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(map.find(inode(i)).value() == i);
    CHECK(writes == before);  // no page has changed since
}

TEST_CASE("spill_reads: names of many inodes are linked without a read") {
    tree::HardLinks links;
    const auto root = std::make_shared<tree::DirNode>(nullptr, "");
    constexpr std::uint64_t count = 150'000;
    static_assert(count > 2 * tree::TableLimits{}.inodes);
    std::uint64_t wrong = 0;
    tree::DirNodeRef folder;
    tree::EntryPlace at;
    reads = writes = 0;
    for (const auto turn : {tree::HardLinks::Turn::first, tree::HardLinks::Turn::ready})
        for (std::uint64_t number = 0; number < count; ++number) {
            if (number % 100 == 0) folder = std::make_shared<tree::DirNode>(root, std::to_string(number));
            const sys::EntryStatus status{.names = 2, .id = inode(number)};
            if (links.take(status, {}, {folder, "name"}, at).value() != turn) ++wrong;
            if (turn == tree::HardLinks::Turn::first) links.published(links.id_of(status), {folder, "name"});
            else if (at.dir_node->name != folder->name) ++wrong;
        }
    CHECK(wrong == 0);
    CHECK(reads == 0);
    CHECK(writes == 0);
}
