// A child behind a socket pair: a write to a pipe without a reader would raise SIGPIPE in the application.

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "core/base/try.hpp"
#include "core/sys/child.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"

namespace forebay::sys {

namespace {

// A killed program ends at once, unless it is stuck in the kernel. A program that closed its output is about to end.
constexpr std::chrono::seconds child_end_max{1};

std::string end_text(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

ChildProgram::ChildProgram(std::string program, int socket, std::int64_t process)
    : program_(std::move(program)), socket_(socket), process_(process), owner_(process_id()) {}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept
    : program_(std::move(other.program_)),
      socket_(std::exchange(other.socket_, -1)),
      process_(std::exchange(other.process_, 0)),
      owner_(other.owner_),
      read_(std::move(other.read_)) {}

ChildProgram& ChildProgram::operator=(ChildProgram&& other) noexcept {
    if (this == &other) return *this;
    end();
    program_ = std::move(other.program_);
    socket_ = std::exchange(other.socket_, -1);
    process_ = std::exchange(other.process_, 0);
    owner_ = other.owner_;
    read_ = std::move(other.read_);
    return *this;
}

ChildProgram::~ChildProgram() { end(); }

void ChildProgram::let_end(std::chrono::milliseconds at_most) {
    const auto process = static_cast<pid_t>(process_);
    if (process == 0 || owner_ != process_id()) return;
    ::shutdown(socket_, SHUT_WR);
    if (!end_of(process, Clock::now() + at_most)) return;
    process_ = 0;
    ::kill(-process, SIGKILL);  // processes that it started and left
}

void ChildProgram::end() {
    Fd gone(std::exchange(socket_, -1));
    const auto process = static_cast<pid_t>(std::exchange(process_, 0));
    if (process == 0 || owner_ != process_id()) return;
    ::kill(-process, SIGKILL);  // its session, with all that it started
    // A child that is stuck in the kernel does not end even now, and is left as a zombie.
    static_cast<void>(end_of(process, Clock::now() + child_end_max));
}

Result<ChildProgram> ChildProgram::start(const Spawn& spawn) {
    Fd log, own, its;
    if (!spawn.log_path.empty()) {
        FB_TRY_ASSIGN(file, open_private(spawn.log_path, O_WRONLY | O_APPEND | O_CREAT));
        log = std::move(file);
    }
    if (!new_socket_pair(own, its)) return posix_error("socketpair", spawn.program, errno);
    FB_TRY_ASSIGN(child, spawn_talking(spawn, its.get(), log.get() < 0 ? its.get() : log.get()));
    return ChildProgram(spawn.program, own.release(), child);
}

Error ChildProgram::ended() {
    const auto process = static_cast<pid_t>(process_);
    if (process == 0) return {ErrorKind::broken, program_ + " has ended"};
    const auto status = end_of(process, Clock::now() + child_end_max);
    if (!status) return {ErrorKind::broken, program_ + " has closed its output"};
    process_ = 0;
    ::kill(-process, SIGKILL);  // processes that it started and left
    return {ErrorKind::broken, fmt::format("{} {}", program_, end_text(*status))};
}

Result<> ChildProgram::write_line(std::string_view line) {
    if (line.size() >= child_line_bytes_max || line.find('\n') != line.npos)
        return Error{ErrorKind::refused,
                     fmt::format("a text of {} bytes is too long or not one line for {}", line.size(), program_)};
    const auto text = std::string(line) + '\n';
    ssize_t sent = -1;
    do {
        sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent == static_cast<ssize_t>(text.size())) return {};
    if (sent >= 0 || errno == EAGAIN) return Error{ErrorKind::retry, program_ + " does not read its input"};
    if (errno == EPIPE || errno == ECONNRESET) return ended();
    return posix_error("send", program_, errno);
}

Result<std::optional<std::string>> ChildProgram::read_line(std::chrono::milliseconds at_most) {
    const auto deadline = Clock::now() + at_most;
    char buffer[child_line_bytes_max];
    while (true) {
        if (const auto length = read_.find('\n'); length < child_line_bytes_max) {
            auto line = read_.substr(0, length);
            read_.erase(0, length + 1);
            return std::optional(std::move(line));
        }
        if (read_.size() >= child_line_bytes_max)
            return Error{ErrorKind::corrupt,
                         fmt::format("{} printed a line of more than {} bytes", program_, child_line_bytes_max)};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        struct pollfd ready {
            socket_, POLLIN, 0
        };
        const int events = ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
        if (events < 0 && errno != EINTR) return posix_error("poll", program_, errno);
        if (events <= 0 && left <= 0) return std::optional<std::string>();
        if (events <= 0) continue;
        const ssize_t got = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got > 0) read_.append(buffer, static_cast<std::size_t>(got));
        else if (got == 0 || errno == ECONNRESET) return ended();
        else if (errno != EINTR && errno != EAGAIN) return posix_error("recv", program_, errno);
    }
}

Result<> end_with_parent() {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return posix_error("prctl", "this process", errno);
    // If the parent ended before the prctl, nobody holds the other end of the standard input.
    struct pollfd input {
        0, 0, 0
    };
    if (::poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR)) != 0)
        return Error{ErrorKind::broken, "the parent program has ended"};
    return {};
}

}  // namespace forebay::sys
