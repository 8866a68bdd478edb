// Whether a directory answers, asked by a child that may hang in it. Between fork and its end the child calls only what
// POSIX lets a child of several threads call: no memory is taken and no lock.

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "base/units.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"
#include "sys/posix_fd.hpp"
#include "sys/posix_spawn.hpp"

namespace forebay::sys {

namespace {

constexpr std::array touch_calls{"stat", "open", "unlink"};
struct Touched {
    int call = 0, number = 0;  // which of touch_calls failed, and errno; 0: none
};

Touched do_touch(const char* directory, const char* file, Touch how) {
    struct stat about {};
    if (::stat(directory, &about) != 0) return {0, errno};
    if (!S_ISDIR(about.st_mode)) return {0, ENOTDIR};
    if (how == Touch::look) return {};
    const int fd = open_no_intr(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0) return {1, errno};
    ::close(fd);
    return ::unlink(file) == 0 ? Touched{} : Touched{2, errno};
}

}  // namespace

Result<> touch(const std::string& directory, Touch how, std::chrono::milliseconds at_most) {
    const auto deadline = Clock::now() + at_most;
    const auto file = fmt::format("{}/.forebay-touch-{:016x}", directory, random_u64());
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", directory, errno);
    const pid_t child = ::fork();
    if (child < 0) return posix_error("fork", directory, errno);
    if (child == 0) {
        // Whoever reads what this program prints would wait for a child that is stuck.
        const auto kept = static_cast<unsigned>(to.get());
        if (kept > 0) ::close_range(0, kept - 1, 0);
        ::close_range(kept + 1, ~0u, 0);
        const auto touched = do_touch(directory.c_str(), file.c_str(), how);
        ::_exit(::write(to.get(), &touched, sizeof touched) == sizeof touched ? 0 : 1);
    }
    to.close_now();
    Touched touched;
    ssize_t got = -1;
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        struct pollfd ready {
            from.get(), POLLIN, 0
        };
        const int events = ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
        if (events > 0) got = ::read(from.get(), &touched, sizeof touched);
        if (got >= 0 || (events <= 0 && left <= 0)) break;
    }
    if (got < 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, WNOHANG);
        return Error{ErrorKind::retry, fmt::format("{} has not answered for {}", directory,
                                                   show_seconds(std::chrono::duration<double>(at_most).count()))};
    }
    static_cast<void>(end_of(child, Clock::now() + std::chrono::seconds(1)));
    if (got != sizeof touched) return Error{ErrorKind::broken, fmt::format("the look at {} was ended", directory)};
    if (touched.number == 0) return {};
    return posix_error(touch_calls[static_cast<std::size_t>(touched.call)], touched.call == 0 ? directory : file,
                       touched.number);
}

}  // namespace forebay::sys
