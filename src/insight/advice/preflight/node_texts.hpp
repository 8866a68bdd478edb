// Pure readers of the kernel's texts about a node; any text is accepted. Sources: the kernel's
// Documentation/filesystems/proc.rst, accounting/psi.rst and proc_pid_mountinfo(5).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::advice {

/// /proc/meminfo, or the file of one NUMA node, with lines that begin with "Node 0".
struct Meminfo {
    std::uint64_t total = 0, free = 0, shared = 0;
    std::optional<std::uint64_t> available;  // NUMA nodes lack it
};
Meminfo read_meminfo(std::string_view text);

/// /proc/buddyinfo: free memory, and its part in pieces of 2 MiB or more. Nothing without a valid line.
struct Buddies {
    std::uint64_t free_bytes = 0, large_bytes = 0;
};
std::optional<Buddies> read_buddyinfo(std::string_view text, std::uint64_t page_bytes = 4096);

/// A line of /proc/self/mountinfo, with \040 and similar codes decoded.
struct Mount {
    std::string device, place, kind, source;  // "0:25", "/dev/shm", "tmpfs", "tmpfs"
};
std::vector<Mount> read_mountinfo(std::string_view text);
/// The mount that holds a path without links: the last mount of the longest place. Null if there is none.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);
/// True if another host or a process must answer for it, and so may never do.
bool may_hang(const Mount& mount);
/// True for a container of DAOS.
bool is_dfuse(const Mount& mount);

/// A line of /proc/sysvipc/shm: shared memory without a name in a directory.
struct SharedSegment {
    std::uint64_t number = 0, bytes = 0, attached = 0;  // bytes in use; attached processes
    std::uint32_t owner = 0;
    std::int64_t changed_unix_s = 0;
};
std::vector<SharedSegment> read_shared_segments(std::string_view text);

/// "some avg10=1.53 ..." of /proc/pressure: percent of the last 10 s with a process waiting.
std::optional<double> read_pressure(std::string_view text);

/// The executable mappings in /proc/self/maps, each file once, sorted: the program and its libraries.
std::vector<std::string> read_mapped_files(std::string_view text);

}  // namespace forebay::advice
