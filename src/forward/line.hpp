// One connection between a client and a forwarder: whole messages, checked.

#pragma once

#include <span>
#include <vector>

#include "forward/message.hpp"
#include "sys/socket.hpp"

namespace forebay::forward {

struct Message {
    Kind kind = Kind::beat;
    std::vector<std::byte> body;
};

Result<> send(sys::Connection& connection, Kind kind, std::span<const std::byte> body, sys::Patience patience);
/// `first` is how long to wait for its beginning, `patience` for each part of the rest. `missing` when the other side
/// has closed in between two messages. Longer messages than `body_bytes_max` are `corrupt`.
Result<Message> receive(sys::Connection& connection, std::uint32_t body_bytes_max, sys::Patience first,
                        sys::Patience patience);

}  // namespace forebay::forward
