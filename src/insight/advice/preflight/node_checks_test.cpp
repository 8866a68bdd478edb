// Goal: a node's memory is the memory a run can get, leftovers are reported with their owners, and too little fails.
// Method: made machines, one of them with wrong lists of free pages; texts of the kernel.

#include "insight/advice/preflight/node_checks.hpp"

#include <doctest/doctest.h>

#include "core/sys/machine.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::advice;
using forebay::test::TempDirectory;
using format::Severity;

namespace {

constexpr std::uint64_t gib = 1ull << 30;

std::vector<format::Finding> judged(const Memory& memory, std::uint64_t need, const Rules& rules = {}) {
    std::vector<format::Finding> findings;
    judge_memory(memory, {.application_bytes = need}, rules, 3ll * 3600 * 1'000'000'000, findings);
    return findings;
}

}  // namespace

TEST_CASE("memory is the least of what the kernel, its lists and the job's group say") {
    Memory memory{.machine = {.total = 24 * gib, .free = 12 * gib, .available = 20 * gib}};
    CHECK(memory.usable() == 20 * gib);
    memory.buddies = Buddies{12 * gib, 10 * gib};
    CHECK(memory.usable() == 20 * gib);  // 8 GiB of files can be given up
    CHECK(judged(memory, 18 * gib).empty());
    REQUIRE(judged(memory, 21 * gib).size() == 1);
    CHECK(judged(memory, 21 * gib)[0].severity == Severity::fail);
    CHECK(judged(memory, 20 * gib - 1)[0].severity == Severity::warn);  // within 5 %
    memory.group_left = 4 * gib;
    CHECK(judged(memory, 18 * gib)[0].text.find("control group") != std::string::npos);
    memory.group_left.reset();
    // The lists are a little below MemFree, and count.
    memory.buddies = Buddies{11 * gib, 1 * gib};
    CHECK(memory.usable() == 19 * gib);
    // MemFree counts pages that no list has: it is unknown here which is right.
    memory.buddies = Buddies{2 * gib, 1 * gib};
    CHECK(memory.usable() == 20 * gib);
    const auto findings = judged(memory, gib);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::warn);
    CHECK(findings[0].text.find("have only 2.15 GB") != std::string::npos);
}

TEST_CASE("memory that the host has taken back until it is touched is free, and no reason to warn") {
    // A virtual machine whose host takes back unused memory: MemTotal and MemFree count it, NUMA nodes do not.
    Memory memory{.machine = {.total = 24 * gib, .free = 18 * gib, .available = 20 * gib},
                  .buddies = Buddies{4 * gib, 1 * gib},
                  .numa = {{.total = 10 * gib, .free = 4 * gib}}};
    CHECK(memory.with_host() == 14 * gib);
    CHECK_FALSE(memory.lists_differ());
    CHECK(memory.usable() == 20 * gib);
    CHECK(judged(memory, 19 * gib).empty());
    // Everything beyond that which the lists lack is missing.
    memory.numa[0].total = 22 * gib;
    CHECK(memory.lists_differ());
    CHECK(judged(memory, gib).size() == 1);
}

TEST_CASE("who has left what in memory is told where it is missing") {
    Memory memory{.machine = {.total = 64 * gib, .free = 46 * gib, .available = 46 * gib}};
    memory.leftovers.push_back({"/dev/shm", "checkpoint.NVRAM", 31337, 9'800'000'000, 0});
    const auto findings = judged(memory, 51 * gib);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].text ==
          "49.4 GB free, need 54.8 GB: 9.80 GB in /dev/shm left by uid31337 (checkpoint.NVRAM, 3 h old)");
}

TEST_CASE("texts of the kernel") {
    const auto info = read_meminfo("MemTotal:  24 kB\nMemFree: 5 kB\nMemAvailable: 7 kB\nShmem: 2 kB\nMemFree: x\n");
    CHECK((info.total == 24 * 1024 && info.free == 5 * 1024 && info.available == 7 * 1024 && info.shared == 2 * 1024));
    CHECK(read_meminfo("Node 0 MemTotal:  24 kB\nNode 0 MemFree: 5 kB\n").free == 5 * 1024);
    const auto buddies = read_buddyinfo("Node 0, zone   Normal  1 0 0 0 0 0 0 0 0 2 3\n");
    REQUIRE(buddies);
    CHECK(buddies->large_bytes == 2 * (2u << 20) + 3 * (4u << 20));
    CHECK(buddies->free_bytes == buddies->large_bytes + 4096);
    CHECK_FALSE(read_buddyinfo("no such\n"));
    const auto mounts = read_mountinfo(
        "24 28 0:21 / /dev/shm rw - tmpfs tmpfs rw\n30 1 0:9 / /a\\040b rw shared:3 - nfs4 s:/x rw\nbad\n");
    REQUIRE(mounts.size() == 2);
    CHECK((mounts[1].place == "/a b" && may_hang(mounts[1]) && !may_hang(mounts[0])));
    CHECK(mount_of(mounts, "/dev/shm/x") == &mounts[0]);
    CHECK(mount_of(mounts, "/dev/shmx") == nullptr);
    CHECK(read_pressure("some avg10=1.53 avg60=0 avg300=0 total=5\nfull avg10=9 x\n") == 1.53);
    const auto segments = read_shared_segments(
        "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n"
        "0 3 600 4096 1 1 0 1000 1000 1000 1000 0 0 77 4096 0\n");
    REQUIRE(segments.size() == 1);
    CHECK((segments[0].owner == 1000 && segments[0].bytes == 4096 && segments[0].changed_unix_s == 77));
}

TEST_CASE("a directory that is not there, and one that cannot be written to, do not answer") {
    const TempDirectory place;
    const auto second = std::chrono::seconds(5);
    CHECK(sys::touch(place / ".", sys::Touch::write, second));
    const auto gone = sys::touch(place / "gone", sys::Touch::look, second);
    REQUIRE(!gone);
    CHECK(gone.error().kind == ErrorKind::missing);
    Needs needs{.staging = place / ".", .target = place / "gone"};
    std::vector<format::Finding> findings;
    check_mounts(needs, {}, findings);
    CHECK(needs.target.empty());
    CHECK(needs.staging == place / ".");
}
