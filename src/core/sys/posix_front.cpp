// Runs a program in the foreground.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

constexpr std::chrono::milliseconds front_look{20};
static_assert(signal_terminate == SIGTERM && signal_kill == SIGKILL);

struct Started {
    pid_t process = -1;
    Fd failure;  // closed by exec, or holds the errno of its failure
};

// `prepare` runs in the child between fork and exec: it must not allocate or lock. On failure: false and errno.
template <class Prepare>
Result<Started> start(char** argv, char** envp, const Prepare& prepare) {
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", argv[0], errno);
    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) return posix_error("fork", argv[0], errno);
    if (child == 0) {
        // The signal mask and ignored signals would survive the exec.
        sigset_t none;
        sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
        ::signal(SIGXFSZ, SIG_DFL);
        // The program ends with its parent. A parent that ended before this call shows in getppid().
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (prepare() && ::getppid() == parent) ::execvpe(argv[0], argv, envp);
        const int number = errno;
        ::_exit(::write(to.get(), &number, sizeof number) == sizeof number ? 127 : 126);
    }
    return Started{child, std::move(from)};
}

// `to` is the process, or its group if below 0.
Result<int> wait_for(const Started& started, const char* program, pid_t to, const std::function<int()>& signal) {
    int number = 0;
    ssize_t got = -1;
    // Waits for the exec, which closes the pipe, or for its errno.
    do {
        got = ::read(started.failure.get(), &number, sizeof number);
    } while (got < 0 && errno == EINTR);
    for (int sent = 0;;) {
        if (const auto status = end_of(started.process, Clock::now() + front_look)) {
            if (got == sizeof number) return posix_error("start of program", program, number);
            return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
        }
        if (const int come = signal(); come != 0 && come != sent) ::kill(to, sent = come);
    }
}

}  // namespace

Result<int> run_in_front(const std::vector<std::string>& command, const std::function<int()>& signal) {
    auto arguments = command;
    auto argv = pointers_to(arguments);
    FB_TRY_ASSIGN(started, start(argv.data(), environ, [] { return true; }));
    return wait_for(started, argv[0], started.process, signal);
}

Result<int> run_in_front(const Spawn& spawn, const std::string& output_path, const std::function<int()>& signal) {
    auto arguments = spawn.arguments;
    arguments.insert(arguments.begin(), spawn.program);
    auto environment = environment_for(spawn);
    auto argv = pointers_to(arguments);
    auto envp = pointers_to(environment);
    const Fd input(open_no_intr("/dev/null", O_RDONLY));
    if (!input.valid()) return posix_error("open", "/dev/null", errno);
    FB_TRY_ASSIGN(log, open_private(spawn.log_path, O_WRONLY | O_APPEND | O_CREAT));
    Fd output;
    if (!output_path.empty()) {
        FB_TRY_ASSIGN(file, open_private(output_path, O_WRONLY | O_CREAT | O_TRUNC));
        output = std::move(file);
    }
    const int descriptors[] = {input.get(), output.valid() ? output.get() : log.get(), log.get()};
    FB_TRY_ASSIGN(started, start(argv.data(), envp.data(), [&] {
                      ::setpgid(0, 0);
                      return becomes_standard(descriptors);
                  }));
    return wait_for(started, argv[0], -started.process, signal);
}

}  // namespace forebay::sys
