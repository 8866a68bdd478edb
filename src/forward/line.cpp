#include "forward/line.hpp"

#include <algorithm>

#include "base/crc32c.hpp"

namespace forebay::forward {

Result<> send(sys::Connection& connection, Kind kind, std::span<const std::byte> body, sys::Patience patience) {
    const auto header =
        encode(Header{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size()), .body_crc = crc32c(body)});
    std::vector<std::byte> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), body.begin(), body.end());  // in one packet
    return connection.send(bytes, patience);
}

Result<Message> receive(sys::Connection& connection, std::uint32_t body_bytes_max, sys::Patience first,
                        sys::Patience patience) {
    HeaderBytes bytes;
    FB_TRY(connection.receive(std::span(bytes).first(1), first));
    // What has begun must go on: only before the first byte may the other side have nothing to say.
    const auto rest = [&](std::span<std::byte> to) -> Result<> {
        auto got = connection.receive(to, patience);
        if (!got) return Error{ErrorKind::retry, got.error().text};
        return {};
    };
    FB_TRY(rest(std::span(bytes).subspan(1)));
    FB_TRY_ASSIGN(header, decode_header(bytes));
    if (header.body_bytes > body_bytes_max)
        return Error{ErrorKind::corrupt, "a message of " + connection.peer() + " is longer than what is waited for"};
    Message message{.kind = header.kind, .body = std::vector<std::byte>(header.body_bytes)};
    FB_TRY(rest(message.body));
    if (crc32c(message.body) != header.body_crc)
        return Error{ErrorKind::retry, "a message of " + connection.peer() + " was damaged on the way"};
    return message;
}

}  // namespace forebay::forward
