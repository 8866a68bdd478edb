// Where a path lies in its file system, whatever bind mount leads there.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::sys {

/// "8:1/projects/a": of an absolute path without links and "..", whose last parts need not be there; `mountinfo` is the
/// text of /proc/self/mountinfo. Empty where the kernel does not tell it (before Linux 5.8), and on NFS, where it calls
/// the roots of all mounts "/".
std::string place_in_file_system(std::string_view mountinfo, const std::string& path);

/// The same of a path that lies in the mount of that number.
std::string place_in_mount(std::string_view mountinfo, std::uint64_t mount, const std::string& path);

}  // namespace forebay::sys
