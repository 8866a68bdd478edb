// A program in the foreground of this one.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "sys/clock.hpp"
#include "sys/posix_fd.hpp"
#include "sys/posix_spawn.hpp"
#include "sys/process.hpp"

namespace forebay::sys {

namespace {

constexpr std::chrono::milliseconds front_look{20};

}  // namespace

Result<int> run_in_front(const std::vector<std::string>& command, const std::function<int()>& signal) {
    auto arguments = command;
    auto argv = pointers_to(arguments);
    Fd from, to;  // closed by exec, or with errno in it
    if (!new_pipe(from, to)) return posix_error("pipe", command[0], errno);
    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) return posix_error("fork", command[0], errno);
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
        ::signal(SIGXFSZ, SIG_DFL);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() == parent) ::execvp(argv[0], argv.data());
        const int number = errno;
        ::_exit(::write(to.get(), &number, sizeof number) == sizeof number ? 127 : 126);
    }
    to.close_now();
    int number = 0;
    ssize_t got = -1;
    do {
        got = ::read(from.get(), &number, sizeof number);
    } while (got < 0 && errno == EINTR);
    for (int told = 0;;) {
        if (const auto status = end_of(child, Clock::now() + front_look)) {
            if (got == sizeof number) return posix_error("start of program", command[0], number);
            return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
        }
        if (const int come = signal(); come != 0 && come != told) ::kill(child, told = come);
    }
}

}  // namespace forebay::sys
