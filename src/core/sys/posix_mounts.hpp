// What the file system under a path is like, and how much memory is left. For sys/posix_*.cpp only.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::sys {

bool on_tmpfs(int fd);

/// Bytes that can be taken without swapping others out or waking the out-of-memory killer (MemAvailable and
/// SwapFree, and what is left of the limits of this process's control groups: a batch job's); none where /proc does not
/// say.
std::optional<std::uint64_t> memory_available();

/// The least that is left of the memory limits of the control groups in `groups` (the text of /proc/self/cgroup) and
/// those above them, whose files are below `root`; none without a limit.
std::optional<std::uint64_t> group_memory_available(std::string_view groups, const std::string& root);

/// Whether the mount of device `major`:`minor` stands in `mountinfo` (the text of /proc/self/mountinfo) with
/// huge=always or huge=within_size.
bool mounted_huge(std::string_view mountinfo, unsigned major, unsigned minor);

/// The mount points below the directory `path` in `mountinfo`, as paths below it, sorted, each once.
std::vector<std::string> mount_points_below(std::string_view mountinfo, const std::string& path);

}  // namespace forebay::sys
