// Locks between processes: open file description locks, which the kernel releases when the holder dies, however it
// dies. Unlike flock(2) they can be looked at without being taken.

#include <sys/stat.h>

#include <fmt/format.h>

#include "sys/machine.hpp"
#include "sys/posix_fd.hpp"

namespace forebay::sys {

namespace {

// A cleaner may remove the file between our open and our lock; it does so once per dead session.
constexpr int attempts_max = 10;

struct flock whole_file(short type) {
    struct flock lock {};  // l_pid must be 0
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

int lock_no_intr(int fd, int command, struct flock& lock) {
    while (::fcntl(fd, command, &lock) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

// Lustre without flock answers ENOSYS, NFS without a lock manager ENOLCK, others EOPNOTSUPP.
Error lock_error(const std::string& path, int number) {
    auto error = posix_error("lock", path, number);
    if (number == ENOSYS || number == ENOLCK || number == EOPNOTSUPP) error.kind = ErrorKind::unsupported;
    return error;
}

bool still_named(int fd, const std::string& path) {
    struct stat opened {
    }, named{};
    return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owner_(other.owner_) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    if (this != &other) {
        release();
        fd_ = std::exchange(other.fd_, -1);
        owner_ = other.owner_;
    }
    return *this;
}

FileLock::~FileLock() { release(); }

void FileLock::release() {
    if (fd_ < 0) return;
    // Unlocked, not only closed: a forked child may hold a copy of the descriptor, and that would keep the lock.
    auto unlock = whole_file(F_UNLCK);
    if (owner_ == process_id()) (void)lock_no_intr(fd_, F_OFD_SETLK, unlock);
    const Fd gone(std::exchange(fd_, -1));
}

Result<FileLock> FileLock::take(const std::string& path) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        FB_TRY_ASSIGN(fd, open_private(path, O_RDWR | O_CREAT));
        auto wanted = whole_file(F_WRLCK);
        const int number = lock_no_intr(fd.get(), F_OFD_SETLK, wanted);
        if (number == EAGAIN || number == EACCES)
            return Error{ErrorKind::retry, fmt::format("lock {}: another living process holds it", path)};
        if (number != 0) return lock_error(path, number);
        if (!still_named(fd.get(), path)) continue;
        FileLock lock;
        lock.fd_ = fd.release();
        lock.owner_ = process_id();
        return lock;
    }
    return Error{ErrorKind::retry, fmt::format("lock {}: the file is removed again and again", path)};
}

Result<bool> lock_state(const std::string& path) {
    const Fd fd(open_no_intr(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR)) return false;
    if (!fd.valid()) return posix_error("open", path, errno);
    auto wanted = whole_file(F_WRLCK);
    if (const int number = lock_no_intr(fd.get(), F_OFD_GETLK, wanted); number != 0) return lock_error(path, number);
    return wanted.l_type != F_UNLCK;
}

bool lock_is_held(const std::string& path) {
    const auto held = lock_state(path);
    return !held || *held;
}

}  // namespace forebay::sys
