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
    /// 0 or errno. Linux has freed the descriptor even when close(2) fails, so it is never repeated.
    int close_now() {
        const int fd = std::exchange(fd_, -1);
        return fd >= 0 && ::close(fd) != 0 ? errno : 0;
    }

private:
    int fd_ = -1;
};

/// The numbers 0 to 2 are never given to what we open, even where the application has closed them: what it then prints
/// would land in our file. All that needs a descriptor gets it from here: -1 and errno, or one that is closed at exec,
/// and no arriving signal can fail it.
int open_no_intr(const char* path, int flags, unsigned mode = 0);
/// By that one call and no others, for whoever measures it; an arriving signal may fail it.
int open_alone(const char* path, int flags, unsigned mode);
int open_at(int directory, const char* name, int flags, unsigned mode = 0);
/// The same as open_alone() below a directory, for what opens millions of entries: numbers 0 to 2 are not looked at
/// before, which takes three calls, but only left.
int open_at_alone(int directory, const char* name, int flags, unsigned mode = 0);
int new_socket(int family, int type);
int accept_from(int listener, sockaddr* address, socklen_t* bytes, int flags);
bool new_pipe(Fd& from, Fd& to);
/// A file in memory that has no name elsewhere.
int new_memory_file(const char* name);
bool new_socket_pair(Fd& first, Fd& other);
/// Standard output and errors of this process go to `fd` from now on.
bool becomes_output(int fd);
/// Input, output and errors of this process are these from now on. Takes no memory: for a child before its exec.
bool becomes_standard(const int (&fds)[3]);

/// Opens a private file of this user: O_NOFOLLOW, 0600 where `flags` create it; refuses what is not a regular file,
/// belongs to another user, is open to others or has a second name, each of which could make us write where
/// somebody else pointed.
Result<Fd> open_private(const std::string& path, int flags);

}  // namespace forebay::sys
