// Locks between processes: open file description locks. The kernel releases them when the holder dies in any way.
// Unlike flock(2), they can be looked at without being taken.

#include <pthread.h>
#include <sys/stat.h>

#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

// A cleaner may remove the file between our open and our lock, once per dead session. Another thread may fork then.
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

// Lustre without flock returns ENOSYS, NFS without a lock manager ENOLCK, other file systems EOPNOTSUPP.
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

// The descriptors of this process's locks. fork() shares their open files, and so the locks: a child that outlives its
// parent would keep them. So a child closes them. A started program drops them by close-on-exec.
class OfThisProcess {
public:
    static OfThisProcess& instance() {
        // Never destroyed: a thread that was left in a dead mount may come back while the process exits.
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
        static auto* const all = [] {
            auto* process = new OfThisProcess;
            ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().after_fork(); },
                             [] { instance().in_child(); });
            return process;
        }();
        return *all;
    }
    std::uint64_t forks() {
        const std::lock_guard lock(mutex_);
        return forks_;
    }
    /// False if a child was forked since forks() returned `forks`: it may have the descriptor.
    bool add(int fd, std::uint64_t forks) {
        const std::lock_guard lock(mutex_);
        if (forks != forks_) return false;
        fds_.push_back(fd);
        return true;
    }
    void remove(int fd) {
        const std::lock_guard lock(mutex_);
        std::erase(fds_, fd);
    }

private:
    void after_fork() {
        ++forks_;
        mutex_.unlock();
    }
    void in_child() {
        for (const int fd : fds_) ::close(fd);
        fds_.clear();
        mutex_.unlock();
    }

    std::mutex mutex_;  // held by fork() too
    std::vector<int> fds_;
    std::uint64_t forks_ = 0;
};

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
    const int fd = std::exchange(fd_, -1);
    // A forked child has closed it, and the number may belong to another file by now.
    if (fd < 0 || owner_ != process_id()) return;
    OfThisProcess::instance().remove(fd);
    // Unlocked, not only closed: a child forked at this moment has a copy of the descriptor.
    auto unlock = whole_file(F_UNLCK);
    (void)lock_no_intr(fd, F_OFD_SETLK, unlock);
    const Fd gone(fd);
}

Result<FileLock> FileLock::take(const std::string& path) {
    auto& all = OfThisProcess::instance();
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        const auto forks = all.forks();
        FB_TRY_ASSIGN(fd, open_private(path, O_RDWR | O_CREAT));
        auto wanted = whole_file(F_WRLCK);
        const int number = lock_no_intr(fd.get(), F_OFD_SETLK, wanted);
        if (number == EAGAIN || number == EACCES)
            return Error{ErrorKind::retry, fmt::format("lock {}: another process holds it", path)};
        if (number != 0) return lock_error(path, number);
        FileLock lock;
        lock.fd_ = fd.release();
        lock.owner_ = process_id();
        // If a child may have the descriptor, or a cleaner removed the file, try again.
        if (all.add(lock.fd_, forks) && still_named(lock.fd_, path)) return lock;
    }
    return Error{ErrorKind::retry,
                 fmt::format("lock {}: its file is removed, or this process forks, repeatedly", path)};
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
