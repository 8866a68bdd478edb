// TCP connections between hosts, with a limit on every wait. Addresses are texts: "host:port", or "[2001:db8::1]:port"
// for a number of IPv6. Processes of one machine may also connect at a path.
//
// Threads: one thread may call send() and another receive() of the same Connection; any thread may call shut().

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
/// Waits until shut(), or until the kernel finds the other host gone, which takes a minute.
inline constexpr Timeout timeout_endless{-1};

class Channel;
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

    /// Tries all numbers of the host's name. `retry` if none answers within `timeout`, not counting the name service;
    /// `refused` if the text is no address.
    static Result<Connection> open(const std::string& address, Timeout timeout);
    /// To a listener of this machine at a path, see Listener::open_local(). Never waits. `missing` if the path does not
    /// exist, `retry` if nobody listens there.
    static Result<Connection> open_local(const std::string& path);

    /// Sends all bytes; `retry` if the other side takes none for `timeout`, or has closed.
    Result<> send(std::span<const std::byte> bytes, Timeout timeout);
    /// Fills `bytes`. `retry` if nothing comes for `timeout`. If the other side has closed: `missing` before the first
    /// byte, `retry` after it.
    Result<> receive(std::span<std::byte> bytes, Timeout timeout);
    /// Takes the bytes that have come, maybe 0; never waits. Errors as of receive().
    Result<std::size_t> receive_some(std::span<std::byte> bytes);
    /// True if the other side has closed, or its host is known to be gone. Its last bytes may still be there.
    bool other_has_left() const;
    /// Ends both directions, or only the incoming direction. Present and later calls of receive() return.
    void shut(bool incoming_only = false);
    bool is_open() const { return fd_ >= 0; }
    /// The other side, as a number with its port.
    const std::string& peer() const { return peer_; }

private:
    friend class Channel;
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

    /// Listens at one address of this host, or at all of them: ":4711", ":0" for any free port.
    static Result<Listener> open(const std::string& address);
    /// Listens at a path of this machine, for processes that may enter its directory. Replaces a name that a killed
    /// process left; `retry` if another process listens there. The name stays when the listener ends: remove it.
    static Result<Listener> open_local(const std::string& path);
    /// For protocols with the first word from the other side: from now on the kernel keeps silent connections back, for
    /// about `timeout`.
    void keep_silent_ones_back(Timeout timeout);
    /// Waits for a connection; empty if none comes within `timeout`, or after shut(). `retry` for an error that ends
    /// only one connection, or that passes.
    Result<std::optional<Connection>> accept(Timeout timeout = timeout_endless);
    void shut();
    std::uint16_t port() const { return port_; }

private:
    friend Result<Ready> wait_for_any(const Listener&, std::span<const Connection* const>, Timeout);
    explicit Listener(int fd, std::uint16_t port) : fd_(fd), port_(port) {}
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

/// The parts of a wait that are ready, for a thread with several connections.
struct Ready {
    bool listener = false;                 // accept() would not wait
    std::vector<std::size_t> connections;  // with bytes to receive, or at their end
};
/// Waits for any of them, at most `timeout`.
Result<Ready> wait_for_any(const Listener& listener, std::span<const Connection* const> connections, Timeout timeout);

/// The numbers by which other hosts may reach this host, without a port. `wanted` is the name of an interface, or a
/// number of this host; "" means all interfaces except the loopback. If there is no other, the loopback is used.
/// `missing` if nothing is found.
Result<std::vector<std::string>> own_addresses(const std::string& wanted);

/// "host:port", with brackets if the host needs them.
std::string with_port(const std::string& host, std::uint16_t port);

}  // namespace forebay::sys
