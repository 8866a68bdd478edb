// A file descriptor with an owner: closed once, by the destructor or by close_now(). For sys/posix_*.cpp only.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "forebay/result.hpp"
#include "sys/posix_error.hpp"

namespace forebay::sys {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            close_now();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { close_now(); }

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    /// 0 or errno. Linux has freed the descriptor even when close(2) fails, so it is never repeated.
    int close_now() {
        const int fd = std::exchange(fd_, -1);
        return fd >= 0 && ::close(fd) != 0 ? errno : 0;
    }

private:
    int fd_ = -1;
};

/// open(2) that an arriving signal cannot fail; -1 and errno otherwise. Close-on-exec always.
inline int open_no_intr(const char* path, int flags, unsigned mode = 0) {
    int fd = -1;
    do {
        fd = ::open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/// Opens a private file of this user: O_NOFOLLOW, 0600 where `flags` create it; refuses what is not a regular file,
/// belongs to another user, is open to others or has a second name, each of which could make us write where
/// somebody else pointed.
Result<Fd> open_private(const std::string& path, int flags);

}  // namespace forebay::sys
