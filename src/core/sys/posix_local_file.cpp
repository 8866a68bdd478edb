#include "core/sys/local_file.hpp"

#include <stdio.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <limits>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_directory.hpp"
#include "core/sys/posix_file.hpp"

namespace forebay::sys {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t nearest_ns(const timespec& time) {
    using Limits = std::numeric_limits<std::int64_t>;
    std::int64_t ns = 0;
    if (!__builtin_mul_overflow(std::int64_t{time.tv_sec}, second_ns, &ns) &&
        !__builtin_add_overflow(ns, std::int64_t{time.tv_nsec}, &ns))
        return ns;
    return time.tv_sec < 0 ? Limits::min() : Limits::max();
}

timespec time_of(std::int64_t unix_ns) {
    // Rounded down: the part below a second is never negative.
    const auto seconds = unix_ns / second_ns, rest = unix_ns % second_ns;
    return rest < 0 ? timespec{.tv_sec = seconds - 1, .tv_nsec = rest + second_ns}
                    : timespec{.tv_sec = seconds, .tv_nsec = rest};
}

LocalFile local_file(const struct stat& about) {
    return {.kind = S_ISREG(about.st_mode)   ? LocalFile::Kind::file
                    : S_ISDIR(about.st_mode) ? LocalFile::Kind::directory
                                             : LocalFile::Kind::other,
            .bytes = static_cast<std::uint64_t>(about.st_size),
            .held_bytes = static_cast<std::uint64_t>(about.st_blocks) * 512,  // the unit of stat(2)
            .owner = about.st_uid,
            .mode = about.st_mode & 07777,
            .modified_unix_ns = nearest_ns(about.st_mtim),
            .device = about.st_dev,
            .inode = about.st_ino,
            .modified_s = about.st_mtim.tv_sec,
            .modified_ns = about.st_mtim.tv_nsec,
            .changed_s = about.st_ctim.tv_sec,
            .changed_ns = about.st_ctim.tv_nsec};
}

// A rename changes the inode's change time.
bool is_same_but_renamed(LocalFile a, const LocalFile& b) {
    a.changed_s = b.changed_s;
    a.changed_ns = b.changed_ns;
    return a == b;
}

Error not_seen(const std::string& path) {
    return {ErrorKind::missing, fmt::format("open: {}: the file was changed or replaced", path)};
}

}  // namespace

Result<LocalFile> look_at(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return posix_error("lstat", path, errno);
    return local_file(about);
}

Result<std::vector<std::string>> names_in(const std::string& directory) {
    Fd fd(open_no_intr(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!fd.valid()) return posix_error("open of directory", directory, errno);
    const Directory opened(::fdopendir(fd.get()));
    if (!opened) return posix_error("fdopendir", directory, errno);
    (void)fd.release();  // the DIR owns it now
    std::vector<std::string> names;
    while (true) {
        // An error of readdir() shows only in errno.
        errno = 0;
        const struct dirent* entry = ::readdir(opened.get());
        if (entry == nullptr) break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    if (errno != 0) return posix_error("readdir", directory, errno);
    return names;
}

Result<std::unique_ptr<File>> open_seen(const std::string& path, const LocalFile& seen) {
    // O_NONBLOCK: a FIFO under this name must not hang us.
    Fd fd(open_no_intr(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid()) return errno == ELOOP ? not_seen(path) : posix_error("open", path, errno);
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return posix_error("fstat", path, errno);
    if (local_file(about) != seen) return not_seen(path);
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(fd), path, false));
}

Result<bool> remove_seen(const std::string& path, const LocalFile& seen) {
    const auto now = look_at(path);
    if (!now && now.error().kind == ErrorKind::missing) return false;
    if (!now) return now.error();
    if (*now != seen) return false;
    // No call removes a name only while it means a certain file. So the file is moved aside first, then checked.
    const auto aside = random_name_beside(path);
    if (::rename(path.c_str(), aside.c_str()) != 0) {
        if (errno == ENOENT) return false;
        return posix_error("rename to " + aside, path, errno);
    }
    FB_TRY_ASSIGN(moved, look_at(aside));
    if (!is_same_but_renamed(moved, seen)) {
        // It was another file: it gets its name back.
        const auto back = rename_to_free(aside, path);
        if (back) return false;
        struct stat about {};
        if (::lstat(path.c_str(), &about) != 0)
            return with_context(back.error(), fmt::format("{}; the file {} is now {}", back.error().what, path, aside));
        // Its writer has put a later file in its place, and that rename would have removed this file too.
    }
    if (::unlink(aside.c_str()) != 0) return posix_error("unlink", aside, errno);
    return is_same_but_renamed(moved, seen);
}

Result<bool> remove_empty(const std::string& directory) {
    if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) return true;
    if (errno == ENOTEMPTY || errno == EEXIST) return false;
    return posix_error("rmdir", directory, errno);
}

Result<std::unique_ptr<File>> create_new(const std::string& path) {
    Fd fd(open_no_intr(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666));
    if (!fd.valid()) return posix_error("open for writing", path, errno);
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(fd), path, false));
}

Result<> rename_to_free(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS) return posix_error("rename to " + to, from, errno);
    // NFS and similar lack this rename, but a hard link also never replaces an existing name.
    if (::link(from.c_str(), to.c_str()) != 0) return posix_error("link to " + to, from, errno);
    if (::unlink(from.c_str()) != 0) return posix_error("unlink", from, errno);
    return {};
}

std::string random_name_beside(const std::string& path) {
    const auto slash = path.rfind('/');
    return fmt::format("{}.forebay-{:016x}.tmp", slash == std::string::npos ? "" : path.substr(0, slash + 1),
                       random_u64());
}

Result<> set_mode_and_time(const std::string& path, std::uint32_t mode, std::int64_t modified_unix_ns) {
    if (::chmod(path.c_str(), mode) != 0) return posix_error("chmod", path, errno);
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(modified_unix_ns)};
    if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
        return posix_error("utimensat", path, errno);
    return {};
}

}  // namespace forebay::sys
