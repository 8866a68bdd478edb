#include "core/sys/posix_tree_entry.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/try.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/machine.hpp"

namespace forebay::sys {

namespace {

constexpr std::size_t name_list_bytes = 4096;        // one call for nearly every entry
constexpr std::size_t attribute_bytes_max = 65'536;  // XATTR_SIZE_MAX and XATTR_LIST_MAX of Linux

constexpr long listxattrat_call =
    465;  // in no header of Debian 12; since Linux 5.1 new calls have one number everywhere

bool has_no_attributes(int number) { return number == EOPNOTSUPP || number == ENOSYS; }

// `ask` is getpwnam_r(3) or getgrnam_r(3). An account with a larger text has names by the thousand.
template <class Account, class Ask>
std::optional<Account> account_of(const std::string& name, const Ask& ask) {
    constexpr std::size_t account_bytes = 256u << 10;
    const std::unique_ptr<char[]> buffer(new char[account_bytes]);
    Account account{};
    Account* entry = nullptr;
    if (ask(name.c_str(), &account, buffer.get(), account_bytes, &entry) != 0 || entry == nullptr) return {};
    return account;
}

FileTime time_of(const statx_timestamp& time) { return {.seconds = time.tv_sec, .nanoseconds = time.tv_nsec}; }

// A read-only file system does not show which properties it could keep, so another try may succeed.
Error change_error(const std::string& call, const std::string& name, int number) {
    auto error = posix_error(call, name, number);
    if (number == EROFS) error.kind = ErrorKind::retry;
    return error;
}

// The value is too large for this file system, or its attribute table is full. The disk is not full.
Error attribute_error(const char* call, const std::string& name, int number) {
    if (number == E2BIG || number == ENOSPC || number == ERANGE || number == EINVAL) {
        auto error = posix_error(call, name, number);
        error.kind = ErrorKind::unsupported;
        return error;
    }
    return change_error(call, name, number);
}

// `list` returns as listxattr(2) does.
template <class List>
Result<std::vector<std::string>> names_by(const std::string& shown_name, const List& list) {
    std::array<char, name_list_bytes> first;
    std::vector<char> larger;
    const char* names = first.data();
    auto bytes = list(first.data(), first.size());
    if (bytes < 0 && errno == ERANGE) {
        // The names need more than the first buffer.
        larger.resize(attribute_bytes_max);
        bytes = list(larger.data(), larger.size());
        names = larger.data();
    }
    if (bytes < 0 && has_no_attributes(errno)) return std::vector<std::string>();
    if (bytes < 0) return posix_error("listxattr", shown_name, errno);
    std::vector<std::string> attribute_names;
    for (const char* end = names + bytes; names < end; names += attribute_names.back().size() + 1)
        attribute_names.emplace_back(names);
    return attribute_names;
}

// `get` returns as getxattr(2) does.
template <class Get>
Result<std::string> value_by(const std::string& attribute_name, const std::string& shown_name, const Get& get) {
    std::array<char, name_list_bytes> first;
    auto bytes = get(first.data(), first.size());
    if (bytes >= 0) return std::string(first.data(), static_cast<std::size_t>(bytes));
    std::string value;
    if (errno == ERANGE) {
        value.resize(attribute_bytes_max);
        bytes = get(value.data(), value.size());
    }
    if (bytes < 0 && errno == ENODATA)
        return Error{ErrorKind::missing, posix_error("getxattr of " + attribute_name, shown_name, errno).what};
    if (bytes < 0) return posix_error("getxattr of " + attribute_name, shown_name, errno);
    value.resize(static_cast<std::size_t>(bytes));
    return value;
}

}  // namespace

EntryKind kind_of_mode(unsigned mode) {
    switch (mode & S_IFMT) {
        case S_IFREG: return EntryKind::file;
        case S_IFDIR: return EntryKind::folder;
        case S_IFLNK: return EntryKind::link;
        case S_IFIFO: return EntryKind::fifo;
        case S_IFSOCK: return EntryKind::socket;
        case S_IFCHR: return EntryKind::character_device;
        case S_IFBLK: return EntryKind::block_device;
        default: return EntryKind::unknown;
    }
}

Result<EntryStatus> status_at(int fd, const char* name, int flags, const std::string& shown_name) {
    struct statx about {};
    if (::statx(fd, name, flags | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &about) != 0)
        return posix_error("statx", shown_name, errno);
    EntryStatus status;
    status.kind = kind_of_mode(about.stx_mode);
    status.permissions = about.stx_mode & 07777u;
    status.user = about.stx_uid;
    status.group = about.stx_gid;
    status.names = about.stx_nlink;
    status.bytes = about.stx_size;
    status.allocated_bytes = about.stx_blocks * 512;  // stat counts blocks of 512 bytes on all file systems
    status.device_number = std::uint64_t{about.stx_rdev_major} << 32 | about.stx_rdev_minor;
    status.id = {.device = makedev(about.stx_dev_major, about.stx_dev_minor), .number = about.stx_ino};
    status.accessed = time_of(about.stx_atime);
    status.modified = time_of(about.stx_mtime);
    status.changed = time_of(about.stx_ctime);
    if ((about.stx_mask & STATX_BTIME) != 0) status.born = time_of(about.stx_btime);
    status.is_mount = (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    status.is_immutable = (about.stx_attributes & STATX_ATTR_IMMUTABLE) != 0;
    status.is_append_only = (about.stx_attributes & STATX_ATTR_APPEND) != 0;
    return status;
}

Result<> RenamesKeepingTime::rename(int folder, const std::string& name, const std::string& new_name, unsigned flags) {
    if (file_system_ == 0) {
        struct statfs about {};
        if (::fstatfs(folder, &about) != 0) return posix_error("statfs", name, errno);
        file_system_ = about.f_type;
    }
    const bool may_lose_time = file_system_ == FUSE_SUPER_MAGIC;
    FB_TRY_ASSIGN(before,
                  may_lose_time ? status_at(folder, name.c_str(), 0, name) : Result<EntryStatus>(EntryStatus{}));
    const int failed = flags == 0 ? ::renameat(folder, name.c_str(), folder, new_name.c_str())
                                  : ::renameat2(folder, name.c_str(), folder, new_name.c_str(), flags);
    if (failed != 0 && flags != 0 && (errno == EINVAL || errno == ENOSYS))
        return Error{ErrorKind::unsupported, posix_error("rename", new_name, errno).what};
    if (failed != 0) return posix_error("rename", new_name, errno);
    if (!may_lose_time) return {};
    // Always: a cache of the kernel may still answer with the time before the rename (measured with dfuse).
    struct timespec times[2]{};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = before.modified.seconds;
    times[1].tv_nsec = static_cast<long>(before.modified.nanoseconds);
    if (::utimensat(folder, new_name.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0) return {};
    const int number = errno;
    const auto after = status_at(folder, new_name.c_str(), 0, new_name);
    if (after && after->modified == before.modified) return {};
    return change_error("utimensat", new_name, number);
}

Result<std::vector<std::string>> attribute_names_at(const std::string& path, const std::string& shown_name,
                                                    bool follow) {
    return names_by(shown_name, [&](char* names, std::size_t bytes) {
        return follow ? ::listxattr(path.c_str(), names, bytes) : ::llistxattr(path.c_str(), names, bytes);
    });
}

std::optional<Result<std::vector<std::string>>> attribute_names_below(int folder, const std::string& name) {
    bool is_there = true;
    auto all_names = names_by(name, [&](char* names, std::size_t bytes) {
        const auto listed = ::syscall(listxattrat_call, folder, name.c_str(), AT_SYMLINK_NOFOLLOW, names, bytes);
        if (listed < 0 && errno == ENOSYS) is_there = false;
        return static_cast<ssize_t>(listed);
    });
    if (!is_there) return {};
    return all_names;
}

Result<std::string> attribute_at(const std::string& path, const std::string& attribute_name,
                                 const std::string& shown_name, bool follow) {
    return value_by(attribute_name, shown_name, [&](char* value, std::size_t bytes) {
        return follow ? ::getxattr(path.c_str(), attribute_name.c_str(), value, bytes)
                      : ::lgetxattr(path.c_str(), attribute_name.c_str(), value, bytes);
    });
}

void drop_told_by_dfuse(std::vector<std::string>& names, int fd, const char* name) {
    const auto match = std::ranges::find(names, daos_link_attribute);
    if (match == names.end()) return;
    const auto status = status_at(fd, name, AT_EMPTY_PATH, name);
    const auto mounts = kernel_text("/proc/self/mountinfo");
    if (!status || !mounts) return;
    const auto device = status->id.device;
    if (mount_in(*mounts, major(device), minor(device)).starts_with(std::string(dfuse_kind) + " ")) names.erase(match);
}

std::string path_of_fd(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

Result<> check_component(const std::string& name) {
    if (is_entry_name(name)) return {};
    return posix_error("use as one name", name, EPERM);
}

// By descriptor if possible: /proc need not be mounted, and no path is parsed.
Result<std::vector<std::string>> PosixEntry::attribute_names() const {
    FB_TRY_ASSIGN(names, opened_ == OpenedHow::as_path ? attribute_names_at(path_of_fd(fd()), name_, true)
                                                       : names_by(name_, [this](char* all, std::size_t bytes) {
                                                             return ::flistxattr(fd(), all, bytes);
                                                         }));
    drop_told_by_dfuse(names, fd(), "");
    return names;
}

Result<std::string> PosixEntry::attribute(const std::string& attribute_name) const {
    if (opened_ == OpenedHow::as_path) return attribute_at(path_of_fd(fd()), attribute_name, name_, true);
    return value_by(attribute_name, name_, [&](char* value, std::size_t bytes) {
        return ::fgetxattr(fd(), attribute_name.c_str(), value, bytes);
    });
}

Result<> PosixEntry::set_attribute(const std::string& attribute_name, const std::string& value) const {
    const auto* key = attribute_name.c_str();
    const int failed = opened_ == OpenedHow::fully
                           ? ::fsetxattr(fd(), key, value.data(), value.size(), 0)
                           : ::setxattr(path_of_fd(fd()).c_str(), key, value.data(), value.size(), 0);
    if (failed != 0) return attribute_error(("setxattr of " + attribute_name).c_str(), name_, errno);
    return {};
}

Result<> PosixEntry::remove_attribute(const std::string& attribute_name) const {
    const int failed = opened_ == OpenedHow::fully ? ::fremovexattr(fd(), attribute_name.c_str())
                                                   : ::removexattr(path_of_fd(fd()).c_str(), attribute_name.c_str());
    if (failed != 0 && errno != ENODATA) return change_error("removexattr of " + attribute_name, name_, errno);
    return {};
}

Result<> PosixEntry::set_owner(std::uint32_t user, std::uint32_t group) const {
    if (::fchownat(fd(), "", user, group, AT_EMPTY_PATH) != 0)
        return change_error("chown to " + std::to_string(user) + ":" + std::to_string(group), name_, errno);
    return {};
}

Result<> PosixEntry::set_permissions(std::uint32_t permissions) const {
    const int failed =
        opened_ == OpenedHow::fully ? ::fchmod(fd(), permissions) : ::chmod(path_of_fd(fd()).c_str(), permissions);
    if (failed != 0) return change_error("chmod", name_, errno);
    return {};
}

Result<> PosixEntry::set_times(FileTime accessed, FileTime modified) const {
    const auto as_timespec = [](FileTime time) {
        struct timespec result {};
        result.tv_sec = time.seconds;
        result.tv_nsec = static_cast<long>(time.nanoseconds);
        return result;
    };
    const struct timespec times[2] = {as_timespec(accessed), as_timespec(modified)};
    const int failed = opened_ == OpenedHow::fully ? ::futimens(fd(), times)
                                                   : ::utimensat(AT_FDCWD, path_of_fd(fd()).c_str(), times, 0);
    if (failed != 0) return change_error("utimensat", name_, errno);
    return {};
}

void PosixEntry::unlock() const { static_cast<void>(::flock(fd_.get(), LOCK_UN)); }

Result<bool> PosixEntry::lock_alone() const {
    if (::flock(fd(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EWOULDBLOCK) return false;
    // The file system has no locks.
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EBADF || errno == EINVAL) return true;
    return posix_error("flock", name_, errno);
}

std::optional<std::uint32_t> user_of_name(const std::string& name) {
    const auto account = account_of<struct passwd>(name, ::getpwnam_r);
    return account ? std::optional<std::uint32_t>(account->pw_uid) : std::nullopt;
}

std::optional<std::uint32_t> group_of_name(const std::string& name) {
    const auto account = account_of<struct group>(name, ::getgrnam_r);
    return account ? std::optional<std::uint32_t>(account->gr_gid) : std::nullopt;
}

}  // namespace forebay::sys
