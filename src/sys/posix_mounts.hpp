// What the file system under a path is like, and how much memory is left. For sys/posix_*.cpp only.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forebay::sys {

bool on_tmpfs(int fd);

/// Bytes that can be taken without swapping others out or waking the out-of-memory killer (MemAvailable and
/// SwapFree); none where /proc does not say.
std::optional<std::uint64_t> memory_available();

/// Whether the mount of device `major`:`minor` stands in `mountinfo` (the text of /proc/self/mountinfo) with
/// huge=always or huge=within_size.
bool mounted_huge(std::string_view mountinfo, unsigned major, unsigned minor);

}  // namespace forebay::sys
