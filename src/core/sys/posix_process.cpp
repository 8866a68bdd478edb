// Starting a daemon, becoming one, and pinning.

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

constexpr std::size_t log_tail_bytes_max = 600;
constexpr std::chrono::milliseconds child_look_pause_max{10}, preemption_look{100};

/// The end of the log's text behind its first `from` bytes, as ": text"; empty if there is none.
std::string log_since(const std::string& path, off_t from) {
    Fd fd(open_no_intr(path.c_str(), O_RDONLY));
    struct stat about {};
    if (!fd.valid() || ::fstat(fd.get(), &about) != 0) return {};
    from = std::max(from, about.st_size - static_cast<off_t>(log_tail_bytes_max));
    std::string text(log_tail_bytes_max, '\0');
    const ssize_t got = ::pread(fd.get(), text.data(), text.size(), from);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    std::string lines;
    for (const char c : text) lines += c == '\n' ? "\n  " : std::string(1, c);
    return lines.empty() ? lines : ": " + lines;
}

Error ended_early(const Spawn& spawn, int status, off_t log_from) {
    const std::string how = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                                : fmt::format("ended with exit code {}", WEXITSTATUS(status));
    const bool is_killed = WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
    return {ErrorKind::broken,
            fmt::format("{} {} before it was ready; its log is {}{}", spawn.program, how, spawn.log_path,
                        log_since(spawn.log_path, log_from)),
            "", is_killed ? "check if memory ran out or if the batch system kills processes, then start again" : ""};
}

/// Polls: waitid has no timeout, and a pidfd needs a newer kernel than some sites have.
Result<> await_ready(const Spawn& spawn, pid_t child, std::chrono::milliseconds timeout, off_t log_from) {
    const auto deadline = Clock::now() + timeout;
    std::chrono::microseconds pause{200};
    auto asks_at = Clock::now() + preemption_look;
    bool interrupted = false;
    while (true) {
        int status = 0;
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
            return ended_early(spawn, status, log_from);
        }
        // ECHILD: SIGCHLD is ignored, or other code has collected the exit code.
        if (ended < 0 && errno == ECHILD) {
            if (spawn.is_ready && spawn.is_ready()) return {};
            return Error{ErrorKind::retry,
                         fmt::format("{} was started, but another part of this process took its exit code (SIGCHLD "
                                     "ignored?), and it did not report that it is ready. Its log is {}{}",
                                     spawn.program, spawn.log_path, log_since(spawn.log_path, log_from))};
        }
        if (ended < 0 && errno != EINTR) return posix_error("waitpid", spawn.program, errno);
        if (Clock::now() >= deadline) break;
        if (spawn.interrupted && Clock::now() >= asks_at) {
            asks_at = Clock::now() + preemption_look;
            interrupted = spawn.interrupted();
            if (interrupted) break;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause * 2, child_look_pause_max);
    }
    ::kill(-child, SIGKILL);  // its session: the first process and its forks
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (interrupted)
        return Error{ErrorKind::retry, fmt::format("interrupted: the wait for {}, which was killed", spawn.program), "",
                     "call again if you did not mean to interrupt"};
    return Error{ErrorKind::retry,
                 fmt::format("{} was not ready within {} ms and was killed; its log is {}{}", spawn.program,
                             timeout.count(), spawn.log_path, log_since(spawn.log_path, log_from))};
}

}  // namespace

std::vector<std::string> environment_for(const Spawn& spawn) {
    std::vector<std::string> result;
    const auto changed = [&](std::string_view name) {
        const auto is_it = [&](const auto& pair) { return pair.first == name; };
        return std::any_of(spawn.environment.begin(), spawn.environment.end(), is_it) ||
               std::find(spawn.environment_removed.begin(), spawn.environment_removed.end(), name) !=
                   spawn.environment_removed.end();
    };
    for (char** entry = environ; !spawn.environment_alone && entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!changed(text.substr(0, text.find('=')))) result.emplace_back(text);
    }
    for (const auto& [name, value] : spawn.environment) result.push_back(fmt::format("{}={}", name, value));
    return result;
}

Result<pid_t> spawn_talking(const Spawn& spawn, int socket, int errors) {
    FileActions actions;
    SpawnAttributes attributes;
    if (int e = actions.only_talk_over(socket, errors))
        return posix_error("posix_spawn_file_actions", spawn.program, e);
    if (int e = attributes.fresh_session()) return posix_error("posix_spawnattr", spawn.program, e);
    auto arguments = spawn.arguments;
    arguments.insert(arguments.begin(), spawn.program);
    auto environment = environment_for(spawn);
    auto argv = pointers_to(arguments);
    auto envp = pointers_to(environment);
    pid_t child = -1;
    if (int e = ::posix_spawnp(&child, spawn.program.c_str(), &actions.raw, &attributes.raw, argv.data(), envp.data()))
        return posix_error("start of program", spawn.program, e);
    return child;
}

Result<> spawn_daemon(const Spawn& spawn, std::chrono::milliseconds timeout) {
    FB_TRY_ASSIGN(log, open_private(spawn.log_path, O_WRONLY | O_APPEND | O_CREAT));
    const off_t log_from = ::lseek(log.get(), 0, SEEK_END);
    FileActions actions;
    SpawnAttributes attributes;
    if (int e = actions.only_output_to(log.get())) return posix_error("posix_spawn_file_actions", spawn.program, e);
    if (int e = attributes.fresh_session()) return posix_error("posix_spawnattr", spawn.program, e);
    std::vector<std::string> arguments = spawn.arguments;
    arguments.insert(arguments.begin(), spawn.program);
    std::vector<std::string> environment = environment_for(spawn);
    auto argv = pointers_to(arguments);
    auto envp = pointers_to(environment);
    pid_t child = -1;
    if (int e = ::posix_spawnp(&child, spawn.program.c_str(), &actions.raw, &attributes.raw, argv.data(), envp.data()))
        return posix_error("start of program", spawn.program, e);
    return await_ready(spawn, child, timeout, log_from);
}

Result<DaemonStart> DaemonStart::fork_away() {
    Fd parent_end, child_end;
    // A socket pair, not a pipe: ready() must not die of SIGPIPE when the parent is gone.
    if (!new_socket_pair(parent_end, child_end)) return posix_error("socketpair", "daemon", errno);
    std::fflush(nullptr);  // else both processes print the buffered text
    const pid_t child = ::fork();
    if (child < 0) return posix_error("fork", "daemon", errno);
    if (child == 0) return DaemonStart(child_end.release());
    child_end.close_now();
    // The read ends with the byte of ready(), or with the end of the child.
    char word = 0;
    ssize_t got = -1;
    do {
        got = ::read(parent_end.get(), &word, 1);
    } while (got < 0 && errno == EINTR);
    ::_exit(got == 1 ? 0 : 1);
}

DaemonStart::DaemonStart(DaemonStart&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DaemonStart::~DaemonStart() { Fd gone(fd_); }

void DaemonStart::ready() {
    const char word = 1;
    while (fd_ >= 0 && ::send(fd_, &word, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
    Fd gone(std::exchange(fd_, -1));
}

}  // namespace forebay::sys
