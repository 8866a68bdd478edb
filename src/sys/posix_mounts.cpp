#include "sys/posix_mounts.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "base/limits.hpp"
#include "sys/machine.hpp"
#include "sys/mapping.hpp"
#include "sys/posix_fd.hpp"
#include "sys/posix_proc.hpp"

namespace forebay::sys {

namespace {

/// The number behind `key` in /proc/meminfo, in bytes.
std::optional<std::uint64_t> meminfo_bytes(std::string_view meminfo, std::string_view key) {
    const auto at = meminfo.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    const auto digits = meminfo.find_first_of("0123456789", at + key.size());
    if (digits == std::string_view::npos) return std::nullopt;
    std::uint64_t kib = 0;
    std::from_chars(meminfo.data() + digits, meminfo.data() + meminfo.size(), kib);
    return kib * 1024;
}

bool has_word(std::string_view line, std::string_view word) {
    for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const auto end = at + word.size();
        const bool starts = at == 0 || line[at - 1] == ' ' || line[at - 1] == ',';
        if (starts && (end == line.size() || line[end] == ' ' || line[end] == ',')) return true;
    }
    return false;
}

}  // namespace

bool on_tmpfs(int fd) {
    struct statfs about {};
    return ::fstatfs(fd, &about) == 0 && about.f_type == TMPFS_MAGIC;
}

std::optional<std::uint64_t> memory_available() {
    const auto meminfo = read_proc("/proc/meminfo");
    if (!meminfo) return std::nullopt;
    const auto available = meminfo_bytes(*meminfo, "MemAvailable:");
    if (!available) return std::nullopt;
    return *available + meminfo_bytes(*meminfo, "SwapFree:").value_or(0);
}

bool mounted_huge(std::string_view mountinfo, unsigned major, unsigned minor) {
    // 24 28 0:21 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=1024k,huge=always
    const std::string device = fmt::format(" {}:{} ", major, minor);
    while (!mountinfo.empty()) {
        const auto end = mountinfo.find('\n');
        const auto line = mountinfo.substr(0, end);
        mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
        const auto options = line.find(" - ");
        const auto at = line.find(device);
        if (options == std::string_view::npos || at == std::string_view::npos || at > options) continue;
        const auto super = line.substr(line.rfind(' ') + 1);  // the last field
        if (has_word(super, "huge=always") || has_word(super, "huge=within_size")) return true;
    }
    return false;
}

std::uint64_t page_bytes_of(const std::string& directory) {
    struct statfs about {};
    struct stat where {};
    if (::statfs(directory.c_str(), &about) != 0 || ::stat(directory.c_str(), &where) != 0) return limits::page_bytes;
    if (about.f_type == HUGETLBFS_MAGIC) return static_cast<std::uint64_t>(about.f_bsize);
    if (about.f_type != TMPFS_MAGIC) return limits::page_bytes;
    // By device, not by mount point: names in mountinfo are escaped, and `directory` may lead through links.
    const auto mounts = read_proc("/proc/self/mountinfo");
    if (!mounts || !mounted_huge(*mounts, major(where.st_dev), minor(where.st_dev))) return limits::page_bytes;
    return limits::huge_page_bytes;
}

Result<std::uint64_t> free_bytes(const std::string& path) {
    struct statvfs about {};
    while (::statvfs(path.c_str(), &about) != 0)
        if (errno != EINTR) return posix_error("statvfs", path, errno);
    return static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize;
}

}  // namespace forebay::sys
