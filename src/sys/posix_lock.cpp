// Locks between processes: flock(2), which the kernel releases when the holder dies, however it dies.

#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include <fmt/format.h>

#include "sys/machine.hpp"
#include "sys/posix_fd.hpp"

namespace forebay::sys {

namespace {

// lock_is_held() takes the lock for an instant to see; take() must not mistake that look for an owner.
constexpr int looks_outlasted = 20;
constexpr std::chrono::milliseconds look_pause{1};

int flock_no_intr(int fd, int operation) {
    while (::flock(fd, operation) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

/// Whether `path` still names the open file; a cleaner may have removed it between our open and our lock.
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
    if (owner_ == process_id()) (void)flock_no_intr(fd_, LOCK_UN);
    Fd gone(std::exchange(fd_, -1));
}

Result<FileLock> FileLock::take(const std::string& path) {
    for (int attempt = 0; attempt < looks_outlasted; ++attempt) {
        FB_TRY_ASSIGN(fd, open_private(path, O_RDWR | O_CREAT));
        const int number = flock_no_intr(fd.get(), LOCK_EX | LOCK_NB);
        if (number != 0 && number != EWOULDBLOCK) return posix_error("flock", path, number);
        if (number == 0 && still_named(fd.get(), path)) {
            FileLock lock;
            lock.fd_ = fd.release();
            lock.owner_ = process_id();
            return lock;
        }
        std::this_thread::sleep_for(look_pause);
    }
    return Error{ErrorKind::retry, fmt::format("lock {}: another living process holds it", path)};
}

bool lock_is_held(const std::string& path) {
    Fd fd(open_no_intr(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid()) return errno != ENOENT && errno != ENOTDIR;
    const int number = flock_no_intr(fd.get(), LOCK_SH | LOCK_NB);
    if (number == 0) (void)flock_no_intr(fd.get(), LOCK_UN);
    return number != 0;
}

}  // namespace forebay::sys
