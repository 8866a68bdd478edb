// One connection between a client and a forwarder: whole messages, checked.

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

/// A message that comes piece by piece.
class Incoming {
public:
    /// Longer messages are `corrupt`.
    explicit Incoming(std::uint32_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

    /// The memory for the next bytes of the message; empty once the message is whole.
    std::span<std::byte> wanted();
    /// So many bytes of wanted() have come.
    Result<> got(std::size_t bytes);
    Frame take() { return std::move(message_); }

private:
    std::uint32_t body_bytes_max_;
    HeaderBytes header_bytes_{};
    std::optional<FrameHeader> header_;
    Frame message_;
    std::size_t at_ = 0;  // in the header, then in the body
};

Result<> send(sys::Connection& connection, FrameKind kind, std::span<const std::byte> body, sys::Timeout timeout);
/// `first` is how long to wait for its beginning, `timeout` for each part of the rest. `missing` when the other side
/// has closed in between two messages. Longer messages than `body_bytes_max` are `corrupt`.
Result<Frame> receive(sys::Connection& connection, std::uint32_t body_bytes_max, sys::Timeout first,
                      sys::Timeout timeout);

/// What a forwarder answers to what it does not do.
Answer refusal(const Error& error);

}  // namespace forebay::forward
