// A file descriptor with an owner: closed once, by the destructor or by close_now(). For sys/posix_*.cpp only.

#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "core/sys/posix_error.hpp"
#include "forebay/result.hpp"

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
    /// 0 or errno. Linux frees the descriptor even if close(2) fails, so close is never repeated.
    int close_now() {
        const int fd = std::exchange(fd_, -1);
        return fd >= 0 && ::close(fd) != 0 ? errno : 0;
    }

private:
    int fd_ = -1;
};

/// All code gets its descriptors from these functions. They return -1 and errno, or a descriptor that is closed at
/// exec. A signal cannot make them fail. They never return the numbers 0 to 2, even if the application has closed them:
/// its output would land in our file.
int open_no_intr(const char* path, int flags, unsigned mode = 0);
/// Makes only that one call, so that you can measure it; a signal may make it fail.
int open_alone(const char* path, int flags, unsigned mode);
int open_at(int directory, const char* name, int flags, unsigned mode = 0);
/// Like open_alone() below a directory, for millions of entries. It does not check the numbers 0 to 2 before, which
/// takes three calls; it only avoids them.
int open_at_alone(int directory, const char* name, int flags, unsigned mode = 0);
int new_socket(int family, int type);
int accept_from(int listener, sockaddr* address, socklen_t* bytes, int flags);
bool new_pipe(Fd& from, Fd& to);
/// A nameless file in memory.
int new_memory_file(const char* name);
bool new_socket_pair(Fd& first, Fd& other);
/// From now on standard output and errors of this process go to `fd`.
bool becomes_output(int fd);
/// Sets input, output and errors of this process. Allocates nothing: for a child before its exec.
bool becomes_standard(const int (&fds)[3]);

/// Opens a private file of this user: O_NOFOLLOW, 0600 if `flags` create it. Refuses a file that is not regular,
/// belongs to another user, is open to other users or has a second name. Each of these could redirect our writes.
Result<Fd> open_private(const std::string& path, int flags);

}  // namespace forebay::sys
