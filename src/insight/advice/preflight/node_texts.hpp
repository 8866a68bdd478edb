// Texts in which the kernel tells what a node has: pure readers, for which any text is one. Sources: the kernel's
// Documentation/filesystems/proc.rst, accounting/psi.rst and proc_pid_mountinfo(5).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::advice {

/// /proc/meminfo, or that of one NUMA node, whose lines begin with "Node 0".
struct Meminfo {
    std::uint64_t total = 0, free = 0, shared = 0;
    std::optional<std::uint64_t> available;  // not told by NUMA nodes
};
Meminfo read_meminfo(std::string_view text);

/// /proc/buddyinfo: free memory, and the part of it in pieces of 2 MiB and more. Nothing where no line is one.
struct Buddies {
    std::uint64_t free_bytes = 0, large_bytes = 0;
};
std::optional<Buddies> read_buddyinfo(std::string_view text, std::uint64_t page_bytes = 4096);

/// A line of /proc/self/mountinfo, with \040 and the like as what they stand for.
struct Mount {
    std::string device, place, kind, source;  // "0:25", "/dev/shm", "tmpfs", "tmpfs"
};
std::vector<Mount> read_mountinfo(std::string_view text);
/// The mount that holds a path, which has no links: the last one of the longest place. Null of none.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);
/// Whether another host, or a process, answers for it, and so may never do.
bool may_hang(const Mount& mount);

/// A line of /proc/sysvipc/shm: shared memory that has no name in a directory.
struct SharedSegment {
    std::uint64_t number = 0, bytes = 0, attached = 0;  // of memory in use; processes
    std::uint32_t owner = 0;
    std::int64_t changed_unix_s = 0;
};
std::vector<SharedSegment> read_shared_segments(std::string_view text);

/// "some avg10=1.53 ..." of /proc/pressure: percent of the last 10 s in which somebody waited.
std::optional<double> read_pressure(std::string_view text);

/// The files in /proc/self/maps from which code runs, each once, sorted: the program and its libraries.
std::vector<std::string> read_mapped_files(std::string_view text);

}  // namespace forebay::advice
