// The output of a short program.

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "core/sys/clock.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"
#include "core/sys/process.hpp"
#include "core/sys/wait_until.hpp"

namespace forebay::sys {

namespace {

constexpr std::size_t output_bytes_max = 64u << 10;
constexpr std::size_t shown_bytes_max = 200;
constexpr std::chrono::seconds killed_end_max{1};

// Reads until the program closes its output; false if `deadline` comes first.
bool read_all(int fd, Clock::time_point deadline, std::string& text) {
    char buffer[4096];
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        struct pollfd ready {
            fd, POLLIN, 0
        };
        const int events = ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
        if (events == 0 && left <= 0) return false;
        if (events <= 0) continue;
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got == 0 || (got < 0 && errno != EINTR)) return true;
        // The rest is read and dropped: a program that cannot write would not end.
        if (got > 0) text.append(buffer, std::min(static_cast<std::size_t>(got), output_bytes_max - text.size()));
    }
}

}  // namespace

std::optional<int> end_of(pid_t child, Clock::time_point deadline) {
    const Pauses pauses{std::chrono::microseconds(200), std::chrono::milliseconds(10)};
    return wait_until(deadline, pauses, [&]() -> std::optional<int> {
        int status = 0;
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        // ECHILD: other code of this process has collected the exit code.
        return ended < 0 && errno != EINTR ? std::optional(0) : std::nullopt;
    });
}

namespace {

// No input if `input` is below 0.
Result<std::string> output_with_input(const std::vector<std::string>& command, std::chrono::milliseconds timeout,
                                      int input) {
    const auto deadline = Clock::now() + timeout;
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", command[0], errno);
    FileActions actions;
    SpawnAttributes attributes;
    if (int e = actions.only_output_to(to.get(), input)) return posix_error("posix_spawn_file_actions", command[0], e);
    if (int e = attributes.fresh_session()) return posix_error("posix_spawnattr", command[0], e);
    auto arguments = command;
    auto argv = pointers_to(arguments);
    pid_t child = -1;
    if (int e = ::posix_spawnp(&child, command[0].c_str(), &actions.raw, &attributes.raw, argv.data(), environ))
        return posix_error("start of program", command[0], e);
    // While this process holds the writing end, the read below sees no end.
    to.close_now();
    std::string text;
    const bool closed = read_all(from.get(), deadline, text);
    const auto status = closed ? end_of(child, deadline) : std::nullopt;
    if (!status) {
        ::kill(-child, SIGKILL);  // its session, with all that it started
        // A child that is stuck in the kernel does not end even now, and is left as a zombie.
        static_cast<void>(end_of(child, Clock::now() + killed_end_max));
        return Error{ErrorKind::retry,
                     fmt::format("{} did not end within {} ms and was killed", command[0], timeout.count())};
    }
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return text;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.size() > shown_bytes_max) text.erase(0, text.size() - shown_bytes_max);
    return Error{ErrorKind::broken,
                 fmt::format("{} ended with {} {}: {}", command[0], WIFSIGNALED(*status) ? "signal" : "exit code",
                             WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status), text)};
}

// The shell kills its own group when this process ends. It sees that by the end of its input, a pipe into which nobody
// writes. The kernel's signal for that (PR_SET_PDEATHSIG) would need a fork of the application's process.
constexpr const char* tied_script =
    "exec 3<&0 </dev/null\n"
    "{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &\n"
    "exec 3<&-\n"
    "(eval \"$1\")\n"
    "code=$?\n"
    "kill -KILL $!\n"
    "exit $code\n";

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds timeout) {
    return output_with_input(command, timeout, -1);
}

Result<std::string> output_of_script(const std::string& script, std::chrono::milliseconds timeout) {
    Fd lifeline, own;
    if (!new_pipe(lifeline, own)) return posix_error("pipe", "/bin/sh", errno);
    return output_with_input({"/bin/sh", "-c", tied_script, "sh", script}, timeout, lifeline.get());
}

}  // namespace forebay::sys
