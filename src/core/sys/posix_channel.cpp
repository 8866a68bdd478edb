// A program's channel is a socket pair: a write to a pipe without a reader would raise SIGPIPE.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "core/base/try.hpp"
#include "core/sys/channel.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"
#include "core/sys/socket.hpp"

namespace forebay::sys {

namespace {

// A killed program ends at once, unless it is stuck in the kernel. A program that closed its output is about to end.
constexpr std::chrono::seconds channel_end_max{1};
constexpr std::size_t channel_read_bytes = 256u << 10;
constexpr std::size_t error_words_max = 2048;

Result<> set_nonblocking(int fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return posix_error("fcntl", "a channel", errno);
    return {};
}

}  // namespace

Channel::Channel(std::string program, int in, int out, int errors, std::int64_t process)
    : program_(std::move(program)), in_(in), out_(out), errors_(errors), process_(process) {}

Channel::Channel(Channel&& other) noexcept
    : program_(std::move(other.program_)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      process_(std::exchange(other.process_, 0)),
      to_send_(std::move(other.to_send_)),
      sent_(other.sent_),
      words_(std::move(other.words_)) {}

Channel::~Channel() {
    // A program's channel has one socket for both directions, which is closed once.
    const bool is_one = in_ == out_;
    Fd in(std::exchange(in_, -1)), errors(std::exchange(errors_, -1));
    Fd out(is_one ? -1 : out_);
    out_ = -1;
    const auto process = static_cast<pid_t>(std::exchange(process_, 0));
    if (process == 0) return;
    ::kill(-process, SIGKILL);  // its session, with all that it started
    static_cast<void>(end_of(process, Clock::now() + channel_end_max));
}

Result<Channel> Channel::start(const Spawn& spawn) {
    Fd own, its, errors, its_errors;
    if (!new_socket_pair(own, its)) return posix_error("socketpair", spawn.program, errno);
    if (!new_pipe(errors, its_errors)) return posix_error("pipe", spawn.program, errno);
    FB_TRY_ASSIGN(child, spawn_talking(spawn, its.get(), its_errors.get()));
    Channel channel(spawn.program, own.get(), own.get(), errors.release(), child);
    static_cast<void>(own.release());
    FB_TRY(set_nonblocking(channel.in_));
    FB_TRY(set_nonblocking(channel.errors_));
    return channel;
}

Result<Channel> Channel::standard() {
    FB_TRY(set_nonblocking(STDIN_FILENO));
    FB_TRY(set_nonblocking(STDOUT_FILENO));
    return Channel("the first process", STDIN_FILENO, STDOUT_FILENO, -1, 0);
}

Result<Channel> Channel::over(Connection connection) {
    const int fd = std::exchange(connection.fd_, -1);
    Channel channel(connection.peer(), fd, fd, -1, 0);
    FB_TRY(set_nonblocking(fd));
    return channel;
}

Error Channel::ended() {
    const auto process = static_cast<pid_t>(process_);
    if (process == 0) return {ErrorKind::broken, program_ + " has ended"};
    const auto status = end_of(process, Clock::now() + channel_end_max);
    if (!status) return {ErrorKind::broken, program_ + " has closed its output"};
    process_ = 0;
    ::kill(-process, SIGKILL);  // processes that it started and left
    return {ErrorKind::broken, WIFSIGNALED(*status)
                                   ? fmt::format("{} was ended by signal {}", program_, WTERMSIG(*status))
                                   : fmt::format("{} ended with exit code {}", program_, WEXITSTATUS(*status))};
}

Result<> Channel::flush() {
    while (has_to_send()) {
        const auto left = std::span(to_send_).subspan(sent_);
        const ssize_t sent = in_ == out_ ? ::send(out_, left.data(), left.size(), MSG_NOSIGNAL)
                                         : ::write(out_, left.data(), left.size());
        if (sent >= 0) sent_ += static_cast<std::size_t>(sent);
        else if (errno == EAGAIN) return {};
        else if (errno == EPIPE || errno == ECONNRESET) return ended();
        else if (errno != EINTR) return posix_error("send", program_, errno);
    }
    to_send_.clear();
    sent_ = 0;
    return {};
}

Result<> Channel::take(std::vector<std::byte>& bytes) {
    const auto first = bytes.size();
    while (true) {
        const auto before = bytes.size();
        bytes.resize(before + channel_read_bytes);
        const ssize_t got = ::read(in_, bytes.data() + before, channel_read_bytes);
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == static_cast<ssize_t>(channel_read_bytes) || (got < 0 && errno == EINTR)) continue;
        if (got > 0 || (got < 0 && errno == EAGAIN)) return {};
        if (got < 0 && errno != ECONNRESET) return posix_error("read", program_, errno);
        return before > first ? Result<>() : Result<>(ended());  // the next call reports the end again
    }
}

std::string Channel::last_words() {
    char buffer[error_words_max];
    ssize_t got = errors_ >= 0 ? ::read(errors_, buffer, sizeof buffer) : 0;
    for (; got > 0; got = ::read(errors_, buffer, sizeof buffer)) {
        words_.append(buffer, static_cast<std::size_t>(got));
        if (words_.size() > error_words_max) words_.erase(0, words_.size() - error_words_max);
    }
    return words_;
}

void Channel::let_end(std::chrono::milliseconds at_most) {
    if (process_ == 0) return;
    ::shutdown(out_, SHUT_WR);
    if (end_of(static_cast<pid_t>(process_), Clock::now() + at_most)) process_ = 0;
}

Result<Bell> Bell::make() {
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", "a bell", errno);
    FB_TRY(set_nonblocking(from.get()));
    FB_TRY(set_nonblocking(to.get()));
    return Bell(from.release(), to.release());
}

Bell::Bell(Bell&& other) noexcept : from_(std::exchange(other.from_, -1)), to_(std::exchange(other.to_, -1)) {}

Bell::~Bell() { const Fd from(from_), to(to_); }

void Bell::ring() {
    const char once = 1;  // a full pipe rings already
    static_cast<void>(!::write(to_, &once, 1));
}

void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until) {
    std::vector<pollfd> fds{{bell.from_, POLLIN, 0}};
    for (const auto* channel : channels) {
        if (channel->in_ >= 0) fds.push_back({channel->in_, POLLIN, 0});
        if (channel->has_to_send()) fds.push_back({channel->out_, POLLOUT, 0});
        if (channel->errors_ >= 0) fds.push_back({channel->errors_, POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
    for (auto* channel : channels) {
        static_cast<void>(channel->last_words());
        // A pipe at its end would wake every poll.
        if (channel->errors_ >= 0) {
            pollfd errors{channel->errors_, POLLIN, 0};
            if (::poll(&errors, 1, 0) > 0 && errors.revents == POLLHUP) Fd gone(std::exchange(channel->errors_, -1));
        }
    }
    // Takes all rings, so that old rings do not wake the next wait.
    char rings[64];
    while (::read(bell.from_, rings, sizeof rings) > 0) continue;
}

}  // namespace forebay::sys
