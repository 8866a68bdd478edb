#include "core/sys/posix_fd.hpp"

#include <sys/mman.h>

#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

constexpr int standard_end = STDERR_FILENO + 1;

// The application may have closed a number since it was checked.
int above_standard(int fd) {
    if (fd < 0 || fd >= standard_end) return fd;
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, standard_end);
    const int number = errno;
    ::close(fd);
    errno = number;
    return moved;
}

template <class Call>
int new_fd(const Call& call) {
    hold_standard_descriptors();
    int fd = -1;
    do {
        fd = call();
    } while (fd < 0 && errno == EINTR);
    return above_standard(fd);
}

template <class Call>
bool new_pair(Fd& first, Fd& other, const Call& call) {
    hold_standard_descriptors();
    int ends[2] = {-1, -1};
    if (call(ends) != 0) return false;
    first = Fd(above_standard(ends[0]));
    other = Fd(above_standard(ends[1]));
    return first.valid() && other.valid();
}

}  // namespace

void hold_standard_descriptors() {
    for (int number = 0; number < standard_end; ++number) {
        if (::fcntl(number, F_GETFD) >= 0) continue;
        // O_PATH: reads and writes fail with EBADF, as on a closed descriptor. It stays open: if this thread closed it
        // after use, another thread of ours could get the number.
        const int held = ::open("/", O_PATH | O_CLOEXEC);
        if (held >= standard_end) ::close(held);
    }
}

int open_no_intr(const char* path, int flags, unsigned mode) {
    return new_fd([&] { return ::open(path, flags | O_CLOEXEC, mode); });
}

int open_alone(const char* path, int flags, unsigned mode) {
    return above_standard(::open(path, flags | O_CLOEXEC, mode));
}

int open_at(int directory, const char* name, int flags, unsigned mode) {
    return new_fd([&] { return ::openat(directory, name, flags | O_CLOEXEC, mode); });
}

int open_at_alone(int directory, const char* name, int flags, unsigned mode) {
    int fd = -1;
    do {
        fd = ::openat(directory, name, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return above_standard(fd);
}

int new_socket(int family, int type) {
    return new_fd([&] { return ::socket(family, type | SOCK_CLOEXEC, 0); });
}

int accept_from(int listener, sockaddr* address, socklen_t* bytes, int flags) {
    return new_fd([&] { return ::accept4(listener, address, bytes, flags | SOCK_CLOEXEC); });
}

int new_memory_file(const char* name) {
    return new_fd([&] { return ::memfd_create(name, MFD_CLOEXEC); });
}

bool new_pipe(Fd& from, Fd& to) {
    return new_pair(from, to, [](int* ends) { return ::pipe2(ends, O_CLOEXEC); });
}

bool new_socket_pair(Fd& first, Fd& other) {
    return new_pair(first, other, [](int* ends) { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); });
}

bool becomes_output(int fd) { return ::dup2(fd, STDOUT_FILENO) >= 0 && ::dup2(fd, STDERR_FILENO) >= 0; }

bool becomes_standard(const int (&fds)[3]) {
    for (int number = 0; number < 3; ++number)
        if (::dup2(fds[number], number) < 0) return false;
    return true;
}

}  // namespace forebay::sys
