#include "core/forward/frames.hpp"

#include <fmt/format.h>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"

namespace forebay::forward {

Result<> send(sys::Connection& connection, FrameKind kind, std::span<const std::byte> body, sys::Timeout timeout) {
    const auto header = encode(
        FrameHeader{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size()), .body_crc = crc32c(body)});
    std::vector<std::byte> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), body.begin(), body.end());  // one send for header and body, so one packet
    return connection.send(bytes, timeout);
}

std::span<std::byte> Incoming::wanted() {
    return header_ ? std::span(message_.body).subspan(at_) : std::span<std::byte>(header_bytes_).subspan(at_);
}

Result<> Incoming::got(std::size_t bytes) {
    at_ += bytes;
    if (!wanted().empty()) return {};
    if (!header_) {
        FB_TRY_ASSIGN(header, decode_header(header_bytes_));
        // Checked before the memory for the body is allocated.
        if (header.body_bytes > body_bytes_max_) return Error{ErrorKind::corrupt, "a message is longer than expected"};
        header_ = header;
        message_ = {.kind = header.kind, .body = std::vector<std::byte>(header.body_bytes)};
        at_ = 0;
    }
    if (wanted().empty() && crc32c(message_.body) != header_->body_crc)
        return Error{ErrorKind::retry, "a message was damaged on the network"};
    return {};
}

Result<Frame> receive(sys::Connection& connection, std::uint32_t body_bytes_max, sys::Timeout first,
                      sys::Timeout timeout) {
    Incoming incoming(body_bytes_max);
    FB_TRY(connection.receive(incoming.wanted().first(1), first));
    auto taken = incoming.got(1);
    while (taken && !incoming.wanted().empty()) {
        const auto wanted = incoming.wanted();
        // Only before the first byte may the other side be silent: a message that has begun must continue.
        if (auto got = connection.receive(wanted, timeout); !got) {
            auto error = got.error();
            error.kind = ErrorKind::retry;
            return error;
        }
        taken = incoming.got(wanted.size());
    }
    if (!taken) return with_context(taken.error(), fmt::format("{}: {}", connection.peer(), taken.error().what));
    return incoming.take();
}

Answer refusal(const Error& error) {
    return {.error = with_context(error, fmt::format("{} (by the forwarder {})", error.what, sys::host_name()))};
}

}  // namespace forebay::forward
