#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/plain_file.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/tree.hpp"

namespace forebay::sys {

Result<PlainFile> PlainFile::open(const std::string& path, Use use) {
    constexpr int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY};
    const int fd = open_alone(path.c_str(), flags[static_cast<int>(use)], 0664);
    if (fd < 0) return posix_error("open", path, errno);
    return PlainFile(fd, path);
}

namespace {

// True if `path` is still the file that is open here: its writer may have renamed or removed it before the lock.
bool is_still(int fd, const std::string& path) {
    struct stat own {};
    struct stat named {};
    return ::fstat(fd, &own) == 0 && ::lstat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

// A regular file of this user with a single name: a killed process has left it.
bool is_left_over(int fd) {
    struct stat own {};
    return ::fstat(fd, &own) == 0 && S_ISREG(own.st_mode) && own.st_uid == ::geteuid() && own.st_nlink == 1;
}

}  // namespace

Result<PlainFile> PlainFile::create_alone(const std::string& path) {
    constexpr int tries_max = 10;
    for (int tries = 0; tries < tries_max; ++tries) {
        const int fd = open_alone(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST) return posix_error("open", path, errno);
        // If the name is taken, it may be a leftover: opened to find out, without waiting for a FIFO.
        PlainFile file(fd >= 0 ? fd : open_alone(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0), path);
        if (file.fd_ < 0 && errno == ENOENT) continue;
        if (file.fd_ < 0 || (fd < 0 && !is_left_over(file.fd_)))
            return Error{ErrorKind::refused, path + " exists, and is not a file that you left there",
                         "nothing was changed", "remove it if you do not need it, or choose another path"};
        // The lock shows other calls that this process uses the file.
        if (::flock(file.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) break;  // other errors: no locks here
        if (!is_still(file.fd_, path)) continue;
        if (fd >= 0) return file;
        if (::unlink(path.c_str()) != 0) return posix_error("unlink", path, errno);
    }
    return Error{ErrorKind::refused, "another process writes " + path, "nothing was changed", "wait for it"};
}

// File systems of servers may lack nameless files. There the file has a name for a moment.
Result<PlainFile> PlainFile::open_unnamed(const std::string& directory) {
    int fd = open_no_intr(directory.c_str(), O_RDWR | O_TMPFILE | O_EXCL, 0600);
    // EOPNOTSUPP: the file system lacks O_TMPFILE. EISDIR: the kernel does not know it.
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        const auto path = fmt::format("{}/.fb-{:016x}", directory, random_u64());
        fd = open_no_intr(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd >= 0) ::unlink(path.c_str());
    }
    if (fd < 0) return posix_error("open of a file without a name", directory, errno);
    return PlainFile(fd, "a file without a name in " + directory);
}

PlainFile::PlainFile(PlainFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      mapped_(std::exchange(other.mapped_, std::span<std::byte>())) {}

PlainFile::~PlainFile() { (void)close(); }

Result<> PlainFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        auto wrote = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (wrote < 0 && errno == ESPIPE) wrote = ::write(fd_, bytes.data(), bytes.size());  // a pipe has no offsets
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return posix_error("pwrite", path_, wrote == 0 ? EIO : errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
        offset += static_cast<std::uint64_t>(wrote);
    }
    return {};
}

Result<> PlainFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const auto got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return posix_error("pread", path_, errno);
        if (got == 0)
            return Error{ErrorKind::corrupt,
                         "read of " + path_ + ": truncated: it ends at byte " + std::to_string(offset)};
        bytes = bytes.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return {};
}

bool PlainFile::is_regular() const {
    struct stat about {};
    return ::fstat(fd_, &about) == 0 && S_ISREG(about.st_mode);
}

Result<> PlainFile::take_permissions(const std::string& path) {
    struct stat old {};
    mode_t mode = 0666u & ~new_entry_owner().umask;
    if (::stat(path.c_str(), &old) == 0) {
        mode = old.st_mode & 0777u;
        // If the group cannot be set, it gets no more than the rights of all users.
        if (::fchown(fd_, old.st_uid, old.st_gid) != 0 && ::fchown(fd_, static_cast<uid_t>(-1), old.st_gid) != 0)
            mode &= ~070u | (mode & 07u) << 3;
    }
    if (::fchmod(fd_, mode) != 0) return posix_error("fchmod", path_, errno);
    return {};
}

Result<> PlainFile::set_size(std::uint64_t bytes) {
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return posix_error("ftruncate", path_, errno);
    return {};
}

Result<std::span<std::byte>> PlainFile::map(std::uint64_t bytes) {
    if (bytes == 0) return std::span<std::byte>();
    void* place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (place == MAP_FAILED) return posix_error("mmap", path_, errno);
    mapped_ = {static_cast<std::byte*>(place), bytes};
    return mapped_;
}

Result<> PlainFile::reserve(std::uint64_t offset, std::uint64_t bytes) {
    int number = 0;
    if (bytes > 0)
        while ((number = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes))) == EINTR)
            continue;
    if (number != 0) return posix_error("posix_fallocate", path_, number);
    return {};
}

Result<> PlainFile::sync() {
    if (!mapped_.empty() && ::msync(mapped_.data(), mapped_.size(), MS_SYNC) != 0)
        return posix_error("msync", path_, errno);
    if (::fsync(fd_) != 0) return posix_error("fsync", path_, errno);
    return {};
}

Result<> PlainFile::forget_cached() {
    if (const int number = ::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); number != 0)
        return posix_error("posix_fadvise", path_, number);
    return {};
}

Result<> PlainFile::close() {
    const auto mapped = std::exchange(mapped_, std::span<std::byte>());
    if (!mapped.empty() && ::munmap(mapped.data(), mapped.size()) != 0) return posix_error("munmap", path_, errno);
    const int fd = std::exchange(fd_, -1);
    if (fd >= 0 && ::close(fd) != 0) return posix_error("close", path_, errno);
    return {};
}

Result<> plain_make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) != 0) return posix_error("mkdir", path, errno);
    return {};
}

Result<> plain_remove_directory(const std::string& path) {
    if (::rmdir(path.c_str()) != 0) return posix_error("rmdir", path, errno);
    return {};
}

Result<> plain_remove(const std::string& path) {
    if (::unlink(path.c_str()) != 0) return posix_error("unlink", path, errno);
    return {};
}

Result<> plain_stat(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return posix_error("stat", path, errno);
    return {};
}

}  // namespace forebay::sys
