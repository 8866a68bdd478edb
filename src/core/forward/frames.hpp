// Sends and receives whole, checked messages on a connection between client and forwarder.

#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/forward/message.hpp"
#include "core/sys/socket.hpp"

namespace forebay::forward {

struct Frame {
    FrameKind kind = FrameKind::beat;
    std::vector<std::byte> body;
};

/// A message that arrives in pieces.
class Incoming {
public:
    /// A longer message is `corrupt`.
    explicit Incoming(std::uint32_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

    /// Returns the memory for the next bytes of the message. Empty when the message is whole.
    std::span<std::byte> wanted();
    /// Call it when so many bytes of wanted() have arrived.
    Result<> got(std::size_t bytes);
    Frame take() { return std::move(message_); }

private:
    std::uint32_t body_bytes_max_;
    HeaderBytes header_bytes_{};
    std::optional<FrameHeader> header_;
    Frame message_;
    std::size_t at_ = 0;  // position in the header, then in the body
};

Result<> send(sys::Connection& connection, FrameKind kind, std::span<const std::byte> body, sys::Timeout timeout);
/// Waits up to `first` for the first byte and up to `timeout` for each later part. `missing` if the other side closed
/// the connection between two messages. `corrupt` if the body is longer than `body_bytes_max`.
Result<Frame> receive(sys::Connection& connection, std::uint32_t body_bytes_max, sys::Timeout first,
                      sys::Timeout timeout);

/// The answer to a request that the forwarder refuses.
Answer refusal(const Error& error);

}  // namespace forebay::forward
