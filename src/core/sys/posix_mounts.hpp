// Properties of the file system under a path, and the free memory. For sys/posix_*.cpp only.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::sys {

bool on_tmpfs(int fd);

/// Bytes that you can take without pushing other processes into swap or waking the out-of-memory killer: MemAvailable
/// and SwapFree, at most the rest of the limits of this process's control groups (a batch job's). Empty if /proc does
/// not report it.
std::optional<std::uint64_t> memory_available();

/// The smallest rest of the memory limits of the control groups in `groups` (the text of /proc/self/cgroup) and of the
/// groups above them. Their files are below `root`. Empty without a limit.
std::optional<std::uint64_t> group_memory_available(std::string_view groups, const std::string& root);

/// True if device `major`:`minor` is mounted with huge=always or huge=within_size, by `mountinfo` (the text of
/// /proc/self/mountinfo).
bool mounted_huge(std::string_view mountinfo, unsigned major, unsigned minor);

/// The mount points in `mountinfo` below the directory `path`, as paths below it, sorted, each once.
std::vector<std::string> mount_points_below(std::string_view mountinfo, const std::string& path);

}  // namespace forebay::sys
