// Connections over TCP.

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/posix_address.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/socket.hpp"

namespace forebay::sys {

namespace {

// The kernel probes an idle peer after 30 s, then every 10 s, and gives it up after the third silence. So a client on a
// host without power does not keep its files open for good.
constexpr int idle_seconds = 30, probe_seconds = 10, probes_max = 3;
constexpr int backlog = 1024;  // hosts of a job that open their sessions at once

int milliseconds_of(Timeout timeout) { return timeout < Timeout(0) ? -1 : static_cast<int>(timeout.count()); }

/// Waits until at least one of `all` is ready, at most `timeout`. Returns how many are ready, or -errno.
int wait_for(std::span<pollfd> all, Timeout timeout) {
    const auto deadline = Clock::now() + timeout;
    while (true) {
        const auto left =
            timeout < Timeout(0) ? timeout : std::max(Timeout(0), std::chrono::ceil<Timeout>(deadline - Clock::now()));
        const int ready = ::poll(all.data(), all.size(), milliseconds_of(left));
        if (ready >= 0) return ready;
        if (errno != EINTR) return -errno;
    }
}

/// The part of `wanted` that is ready; 0 if nothing is within `timeout`.
int wait_for(int fd, short wanted, Timeout timeout) {
    pollfd polled{.fd = fd, .events = wanted, .revents = 0};
    return wait_for({&polled, 1}, timeout) < 0 ? POLLERR : polled.revents;
}

void set(int fd, int level, int name, int value) {
    // Each option improves a good connection; none is needed.
    static_cast<void>(::setsockopt(fd, level, name, &value, sizeof value));
}

void prepare(int fd) {
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);  // requests are small, and a caller waits for each
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_seconds);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_seconds);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, probes_max);
}

Result<Fd> connect_to(const addrinfo& to, const std::string& shown, Timeout timeout) {
    Fd fd(new_socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK));
    if (!fd.valid()) return posix_error("socket", shown, errno);
    if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) != 0) {
        // A connect that goes on has its result in SO_ERROR when the socket becomes writable.
        if (errno != EINPROGRESS) return posix_error("connect", shown, errno);
        if (wait_for(fd.get(), POLLOUT, timeout) == 0) return posix_error("connect", shown, ETIMEDOUT);
        int number = 0;
        socklen_t bytes = sizeof number;
        if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &number, &bytes) != 0) number = errno;
        if (number != 0) return posix_error("connect", shown, number);
    }
    prepare(fd.get());
    return fd;
}

}  // namespace

Connection& Connection::operator=(Connection&& other) noexcept {
    if (this != &other) {
        const Fd old(std::exchange(fd_, std::exchange(other.fd_, -1)));
        peer_ = std::move(other.peer_);
    }
    return *this;
}

Connection::~Connection() { const Fd old(std::exchange(fd_, -1)); }

Result<Connection> Connection::open(const std::string& address, Timeout timeout) {
    FB_TRY_ASSIGN(addresses, find_address(address, 0));
    Error last{ErrorKind::retry, "connect: " + address + ": it has no number"};
    const auto deadline = Clock::now() + timeout;
    for (const addrinfo* info = addresses.get(); info != nullptr; info = info->ai_next) {
        const auto shown = number_of(info->ai_addr, info->ai_addrlen);
        const auto left = std::max(Timeout(1), std::chrono::ceil<Timeout>(deadline - Clock::now()));
        if (auto fd = connect_to(*info, shown == address ? address : address + " (" + shown + ")", left))
            return Connection(fd->release(), shown);
        else last = fd.error();
    }
    if (last.kind == ErrorKind::refused) last.kind = ErrorKind::retry;  // a firewall refused, not the caller's mistake
    return last;
}

Result<> Connection::send(std::span<const std::byte> bytes, Timeout timeout) {
    while (!bytes.empty()) {
        // MSG_NOSIGNAL: no SIGPIPE in the application when the other side has closed.
        const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN) {
            const int number = errno;
            return Error{ErrorKind::retry, posix_error("send", peer_, number).what};
        }
        if (wait_for(fd_, POLLOUT, timeout) == 0)
            return Error{ErrorKind::retry,
                         fmt::format("send: {}: it accepted nothing for {} ms", peer_, timeout.count())};
    }
    return {};
}

Result<std::size_t> Connection::receive_some(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const auto got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got > 0) return static_cast<std::size_t>(got);
        if (got == 0) return Error{ErrorKind::missing, fmt::format("receive: {}: it has closed the connection", peer_)};
        if (errno == EINTR) continue;
        if (errno == EAGAIN) break;
        const int number = errno;
        return Error{ErrorKind::retry, posix_error("receive", peer_, number).what};
    }
    return std::size_t{0};
}

Result<> Connection::receive(std::span<std::byte> bytes, Timeout timeout) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto got = receive_some(bytes.subspan(at));
        if (!got) return Error{at == 0 ? got.error().kind : ErrorKind::retry, got.error().what};
        at += *got;
        if (*got == 0 && wait_for(fd_, POLLIN, timeout) == 0)
            return Error{ErrorKind::retry, fmt::format("receive: {}: it was silent for {} ms", peer_, timeout.count())};
    }
    return {};
}

bool Connection::other_has_left() const {
    return (wait_for(fd_, POLLRDHUP, Timeout(0)) & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Connection::shut(bool incoming_only) { static_cast<void>(::shutdown(fd_, incoming_only ? SHUT_RD : SHUT_RDWR)); }

Listener& Listener::operator=(Listener&& other) noexcept {
    if (this != &other) {
        const Fd old(std::exchange(fd_, std::exchange(other.fd_, -1)));
        port_ = other.port_;
    }
    return *this;
}

Listener::~Listener() { const Fd old(std::exchange(fd_, -1)); }

Result<Listener> Listener::open(const std::string& address) {
    FB_TRY_ASSIGN(addresses, find_address(address, AI_PASSIVE));
    std::vector<const addrinfo*> order;
    for (const addrinfo* info = addresses.get(); info != nullptr; info = info->ai_next) order.push_back(info);
    // The IPv6 "any address" takes IPv4 connections too.
    std::stable_partition(order.begin(), order.end(), [](const addrinfo* info) { return info->ai_family == AF_INET6; });
    Error last{ErrorKind::missing, "listen: " + address + ": it has no number"};
    for (const addrinfo* info : order) {
        Fd fd(new_socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK));
        if (!fd.valid()) {
            last = posix_error("socket", address, errno);
            continue;
        }
        set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // a restarted forwarder must not wait for its port
        if (info->ai_family == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
        sockaddr_storage bound{};
        socklen_t bytes = sizeof bound;
        if (::bind(fd.get(), info->ai_addr, info->ai_addrlen) == 0 && ::listen(fd.get(), backlog) == 0 &&
            ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) == 0)
            return Listener(fd.release(), port_of(reinterpret_cast<const sockaddr*>(&bound)));
        last = posix_error("listen", address, errno);
    }
    return last;
}

void Listener::keep_silent_ones_back(Timeout timeout) {
    set(fd_, IPPROTO_TCP, TCP_DEFER_ACCEPT, static_cast<int>(std::chrono::ceil<std::chrono::seconds>(timeout).count()));
}

Result<std::optional<Connection>> Listener::accept(Timeout timeout) {
    while (true) {
        const int ready = wait_for(fd_, POLLIN, timeout);
        if (ready == 0 || (ready & POLLHUP) != 0) return std::optional<Connection>();
        sockaddr_storage from{};
        socklen_t bytes = sizeof from;
        const int raw = accept_from(fd_, reinterpret_cast<sockaddr*>(&from), &bytes, SOCK_NONBLOCK);
        if (raw >= 0) {
            prepare(raw);
            return std::optional(Connection(raw, number_of(reinterpret_cast<const sockaddr*>(&from), bytes)));
        }
        if (errno == EINVAL) return std::optional<Connection>();  // after shut()
        // ECONNABORTED: the other side left before it was accepted. The next connection is waited for.
        if (errno != EAGAIN && errno != ECONNABORTED) {
            const int number = errno;
            return Error{ErrorKind::retry, posix_error("accept", fmt::format("port {}", port_), number).what};
        }
    }
}

void Listener::shut() { static_cast<void>(::shutdown(fd_, SHUT_RDWR)); }

Result<Ready> wait_for_any(const Listener& listener, std::span<const Connection* const> connections, Timeout timeout) {
    std::vector<pollfd> all;
    all.reserve(connections.size() + 1);
    for (const auto* connection : connections) all.push_back({.fd = connection->fd_, .events = POLLIN, .revents = 0});
    all.push_back({.fd = listener.fd_, .events = POLLIN, .revents = 0});
    if (const int ready = wait_for(all, timeout); ready < 0)
        return Error{ErrorKind::retry, posix_error("poll", fmt::format("port {}", listener.port_), -ready).what};
    Ready ready{.listener = all.back().revents != 0, .connections = {}};
    for (std::size_t i = 0; i < connections.size(); ++i)
        if (all[i].revents != 0) ready.connections.push_back(i);
    return ready;
}

}  // namespace forebay::sys
