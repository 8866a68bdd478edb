#include "core/sys/posix_mounts.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/place_in_file_system.hpp"
#include "core/sys/posix_error.hpp"
#include "core/sys/posix_fd.hpp"

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

std::optional<std::uint64_t> number_in(const std::string& path) {
    const auto text = kernel_text(path.c_str());
    std::uint64_t number = 0;
    // The text is "max" if there is no limit.
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

// The rest of a control group's limit. Its clean cache counts as used, but is given up when memory is needed.
std::optional<std::uint64_t> left_of_group(const std::string& directory, const char* limit_file,
                                           const char* usage_file) {
    const auto limit = number_in(directory + limit_file), usage = number_in(directory + usage_file);
    if (!limit || !usage) return std::nullopt;
    std::uint64_t cached = 0;
    if (const auto stat = kernel_text((directory + "/memory.stat").c_str()))
        if (const auto at = stat->find("\ninactive_file "); at != std::string::npos)
            std::from_chars(stat->data() + at + 15, stat->data() + stat->size(), cached);
    const auto used = *usage - std::min(*usage, cached);
    return *limit - std::min(*limit, used);
}

std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

// Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
std::optional<std::uint64_t> group_memory_available(std::string_view groups, const std::string& root) {
    std::optional<std::uint64_t> available;
    while (!groups.empty()) {
        const auto end = groups.find('\n');
        const auto line = groups.substr(0, end);  // "4:memory:/slurm/job_7" of version 1, "0::/job.slice" of version 2
        groups.remove_prefix(end == std::string_view::npos ? groups.size() : end + 1);
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const bool v1 = controllers == "memory";
        if (!v1 && !controllers.empty()) continue;
        const auto base = root + (v1 ? "/memory" : "");
        // The limits of the groups above apply too.
        for (std::string path(line.substr(second + 1));; path.resize(path.rfind('/'))) {
            while (path.ends_with('/')) path.pop_back();
            available =
                least(available, v1 ? left_of_group(base + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes")
                                    : left_of_group(base + path, "/memory.max", "/memory.current"));
            if (path.find('/') == std::string::npos) break;
        }
    }
    return available;
}

bool on_tmpfs(int fd) {
    struct statfs about {};
    return ::fstatfs(fd, &about) == 0 && about.f_type == TMPFS_MAGIC;
}

std::optional<std::uint64_t> memory_available() {
    const auto meminfo = kernel_text("/proc/meminfo");
    if (!meminfo) return std::nullopt;
    const auto available = meminfo_bytes(*meminfo, "MemAvailable:");
    if (!available) return std::nullopt;
    const auto machine = *available + meminfo_bytes(*meminfo, "SwapFree:").value_or(0);
    return least(machine, group_memory_left());
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

namespace {

std::string_view word(std::string_view line, int number) {
    for (; number > 0 && !line.empty(); --number) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    return line.substr(0, line.find(' '));
}

// Decodes "\\040" to a space: mountinfo has blanks, line ends and backslashes in octal.
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        int value = 0;
        const bool is_octal = text.size() >= 4 && text[0] == '\\' &&
                              std::from_chars(text.data() + 1, text.data() + 4, value, 8).ptr == text.data() + 4;
        plain += is_octal ? static_cast<char>(value) : text[0];
        text.remove_prefix(is_octal ? 4 : 1);
    }
    return plain;
}

}  // namespace

std::vector<std::string> mount_points_below(std::string_view mountinfo, const std::string& path) {
    const auto top = path.ends_with('/') ? path : path + "/";
    std::vector<std::string> mounts;
    while (!mountinfo.empty()) {
        const auto line = mountinfo.substr(0, mountinfo.find('\n'));
        mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
        const auto point = unescaped(word(line, 4));
        if (point.starts_with(top) && point.size() > top.size()) mounts.push_back(point.substr(top.size()));
    }
    std::ranges::sort(mounts);
    mounts.erase(std::unique(mounts.begin(), mounts.end()), mounts.end());
    return mounts;
}

std::string place_in_mount(std::string_view mountinfo, std::uint64_t mount, const std::string& path) {
    const auto number = std::to_string(mount);
    while (!mountinfo.empty()) {
        const auto line = mountinfo.substr(0, mountinfo.find('\n'));
        mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
        if (word(line, 0) != number) continue;
        const auto kind = line.find(" - ");
        auto root = unescaped(word(line, 3)), point = unescaped(word(line, 4));
        // A "/" would become a second slash in the joined path.
        for (auto* place : {&root, &point})
            if (*place == "/") place->clear();
        if (kind == line.npos || line.substr(kind + 3).starts_with("nfs") || !path.starts_with(point)) return {};
        return std::string(word(line, 2)) + root + path.substr(point.size());
    }
    return {};
}

std::string place_in_file_system(std::string_view mountinfo, const std::string& path) {
    struct statx about {};
    // The last parts of the path need not exist.
    for (auto at = path; ::statx(AT_FDCWD, at.c_str(), AT_NO_AUTOMOUNT, STATX_MNT_ID, &about) != 0;) {
        if ((errno != ENOENT && errno != ENOTDIR) || at == "/" || at.empty()) return {};
        at = directory_of(at);
    }
    return (about.stx_mask & STATX_MNT_ID) == 0 ? std::string() : place_in_mount(mountinfo, about.stx_mnt_id, path);
}

std::string mount_in(std::string_view mountinfo, unsigned major, unsigned minor) {
    const auto device = fmt::format("{}:{}", major, minor);
    std::string mount;
    while (!mountinfo.empty()) {
        const auto end = mountinfo.find('\n');
        const auto line = mountinfo.substr(0, end);
        mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
        const auto kind = line.find(" - ");
        if (kind == std::string_view::npos || word(line, 2) != device) continue;
        const auto behind = line.substr(kind + 3);
        // A later mount lies on top of the earlier mounts.
        mount = fmt::format("{} {} on {} ({},{})", word(behind, 0), word(behind, 1), word(line, 4), word(line, 5),
                            word(behind, 2));
    }
    return mount;
}

std::string mount_of(const std::string& path) {
    struct stat about {};
    const auto mounts = kernel_text("/proc/self/mountinfo");
    if (!mounts || ::stat(path.c_str(), &about) != 0) return {};
    return mount_in(*mounts, major(about.st_dev), minor(about.st_dev));
}

std::uint64_t page_bytes_of(const std::string& directory) {
    struct statfs about {};
    struct stat where {};
    if (::statfs(directory.c_str(), &about) != 0 || ::stat(directory.c_str(), &where) != 0) return limits::page_bytes;
    if (about.f_type == HUGETLBFS_MAGIC) return static_cast<std::uint64_t>(about.f_bsize);
    if (about.f_type != TMPFS_MAGIC) return limits::page_bytes;
    // By device, not by mount point: mountinfo escapes names, and `directory` may lead through links.
    const auto mounts = kernel_text("/proc/self/mountinfo");
    if (!mounts || !mounted_huge(*mounts, major(where.st_dev), minor(where.st_dev))) return limits::page_bytes;
    return limits::huge_page_bytes;
}

Result<std::string> file_system_kind(const std::string& path) {
    // Types of statfs(2); linux/magic.h has no names for the plain numbers.
    static constexpr std::pair<std::uint32_t, const char*> names[] = {{EXT4_SUPER_MAGIC, "ext4"},
                                                                      {BTRFS_SUPER_MAGIC, "btrfs"},
                                                                      {TMPFS_MAGIC, "tmpfs"},
                                                                      {NFS_SUPER_MAGIC, "nfs"},
                                                                      {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                                                      {0x58465342, "xfs"},
                                                                      {0x0BD00BD0, "lustre"},
                                                                      {0x65735546, "fuse"},
                                                                      {0x47504653, "gpfs"},
                                                                      {0x2FC12FC1, "zfs"},
                                                                      {0x00C36400, "ceph"},
                                                                      {0x19830326, "beegfs"}};
    for (auto at = path.empty() ? std::string(".") : path;;) {
        struct statfs about {};
        if (::statfs(at.c_str(), &about) == 0) {
            const auto number = static_cast<std::uint32_t>(about.f_type);
            const auto name = std::ranges::find(names, number, &std::pair<std::uint32_t, const char*>::first);
            return name == std::end(names) ? fmt::format("{:#010x}", number) : std::string(name->second);
        }
        const int error = errno;
        const auto slash = at.find_last_of('/');
        if (error != ENOENT || at == "." || at == "/") return posix_error("statfs", path, error);
        at = slash == std::string::npos ? "." : slash == 0 ? "/" : at.substr(0, slash);
    }
}

Result<FileSystem> file_system_of(const std::string& path) {
    struct statvfs about {};
    while (::statvfs(path.c_str(), &about) != 0)
        if (errno != EINTR) return posix_error("statvfs", path, errno);
    const auto bytes_of = [&](fsblkcnt_t blocks) { return static_cast<std::uint64_t>(blocks) * about.f_frsize; };
    return FileSystem{.bytes = bytes_of(about.f_blocks),
                      .used_bytes = bytes_of(about.f_blocks - about.f_bfree),
                      .free_bytes = bytes_of(about.f_bavail),
                      .files = about.f_files,
                      .files_free = about.f_favail,
                      .may_execute = (about.f_flag & ST_NOEXEC) == 0};
}

Result<std::uint64_t> free_bytes(const std::string& path) {
    const auto about = file_system_of(path);
    if (!about) return about.error();
    return about->free_bytes;
}

std::optional<std::uint64_t> group_memory_left() {
    const auto groups = kernel_text("/proc/self/cgroup");
    return groups ? group_memory_available(*groups, "/sys/fs/cgroup") : std::nullopt;
}

}  // namespace forebay::sys
