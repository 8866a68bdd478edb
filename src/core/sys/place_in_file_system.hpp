// The place of a path in its file system, whatever bind mount leads there.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::sys {

/// For example "8:1/projects/a". `path` is absolute, without links and ".."; its last parts need not exist. `mountinfo`
/// is the text of /proc/self/mountinfo. Empty if the kernel does not report the mount (before Linux 5.8), and on NFS:
/// there the root of every mount is "/".
std::string place_in_file_system(std::string_view mountinfo, const std::string& path);

/// The same for a path in the mount of that number.
std::string place_in_mount(std::string_view mountinfo, std::uint64_t mount, const std::string& path);

}  // namespace forebay::sys
