// Connections between hosts: streams of bytes over TCP, with a limit to every wait. Addresses are texts, "host:port",
// "[2001:db8::1]:port" where the host is a number of IPv6.
//
// Threads: send() and receive() of one Connection may run at once, each by one thread; shut() by any.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

using Timeout = std::chrono::milliseconds;
/// For who waits until shut(), or until the kernel finds the other host gone, which takes a minute.
inline constexpr Timeout timeout_endless{-1};

class Listener;
struct Ready;

class Connection {
public:
    Connection() = default;
    Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)), peer_(std::move(other.peer_)) {}
    Connection& operator=(Connection&& other) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Tries every number that the host's name stands for. `retry` when none answers within `timeout`, which the name
    /// service is not part of; `refused` for a text that is no address.
    static Result<Connection> open(const std::string& address, Timeout timeout);

    /// All of the bytes; `retry` when the other side takes none for `timeout`, or has closed.
    Result<> send(std::span<const std::byte> bytes, Timeout timeout);
    /// Fills `bytes`; `retry` when nothing comes for `timeout`, `missing` when the other side has closed before the
    /// first byte, and `retry` after it.
    Result<> receive(std::span<std::byte> bytes, Timeout timeout);
    /// As much of `bytes` as has come, which may be 0: never waits. Errors as of receive().
    Result<std::size_t> receive_some(std::span<std::byte> bytes);
    /// Whether the other side has closed, or its host is known to be gone. What it sent before may still be there.
    bool other_has_left() const;
    /// Ends both directions, or what comes in alone: who waits in receive() returns, and so will who comes later.
    void shut(bool incoming_only = false);
    bool is_open() const { return fd_ >= 0; }
    /// The other side, as a number with its port.
    const std::string& peer() const { return peer_; }

private:
    friend class Listener;
    friend Result<Ready> wait_for_any(const Listener&, std::span<const Connection* const>, Timeout);
    Connection(int fd, std::string peer) : fd_(fd), peer_(std::move(peer)) {}
    int fd_ = -1;
    std::string peer_;
};

class Listener {
public:
    Listener() = default;
    Listener(Listener&& other) noexcept : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}
    Listener& operator=(Listener&& other) noexcept;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    /// At one address of this host, or at all of them: ":4711", ":0" for any free port.
    static Result<Listener> open(const std::string& address);
    /// Where the other side speaks first: from now on a connection that says nothing stays with the kernel, for about
    /// `timeout`.
    void keep_silent_ones_back(Timeout timeout);
    /// Waits for a connection; nothing when none has come for `timeout`, or once shut() was called. `retry` for what
    /// ends one connection alone, or passes.
    Result<std::optional<Connection>> accept(Timeout timeout = timeout_endless);
    void shut();
    std::uint16_t port() const { return port_; }

private:
    friend Result<Ready> wait_for_any(const Listener&, std::span<const Connection* const>, Timeout);
    explicit Listener(int fd, std::uint16_t port) : fd_(fd), port_(port) {}
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

/// For whom a thread of several connections need not wait.
struct Ready {
    bool listener = false;                 // accept() has something to say
    std::vector<std::size_t> connections;  // to which something has come, or which have ended
};
/// Waits for any of them, at most `timeout`.
Result<Ready> wait_for_any(const Listener& listener, std::span<const Connection* const> connections, Timeout timeout);

/// The numbers by which other hosts may reach this one, without a port: of the interface of that name, or the number
/// itself if it is one of this host; of all interfaces but the loopback when `wanted` is "". The loopback's when there
/// is no other. `missing` when nothing is found.
Result<std::vector<std::string>> own_addresses(const std::string& wanted);

/// "host:port", with brackets where the host needs them.
std::string with_port(const std::string& host, std::uint16_t port);

}  // namespace forebay::sys
