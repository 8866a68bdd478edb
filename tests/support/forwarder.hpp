// A forwarder on the loopback over a test's store, and its clients. For doctest programs.

#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/forward/forwarded_store.hpp"
#include "core/forward/frames.hpp"
#include "core/forward/server.hpp"

namespace forebay::test {

inline const std::string forwarder_token = "000102030405060708090a0b0c0d0e0f";
inline const std::string forwarded_run = "/scratch/run";
/// For calls that are not delayed on purpose. A busy machine needs long.
inline constexpr sys::Timeout timeout = std::chrono::seconds(20);

inline std::string loopback(std::uint16_t port) { return sys::with_port("127.0.0.1", port); }

inline forward::Server serve(sys::Store& store, forward::ServerOptions options = {},
                             const std::string& listen = "127.0.0.1:0") {
    options.token = forwarder_token;
    return forward::Server::start(store, listen, options).value();
}

inline forward::ClientOptions client_of(std::vector<std::string> to, std::chrono::milliseconds silence_max = timeout) {
    return {.run = forwarded_run,
            .to = std::move(to),
            .token = forwarder_token,
            .connect_max = timeout,
            .silence_max = silence_max};
}

/// A client played by hand, after the forwarder answered its greeting.
inline std::pair<sys::Connection, forward::Greeting> known_at(const forward::Server& server) {
    auto connection = sys::Connection::open(loopback(server.port()), timeout).value();
    forward::Greeting greeting{.client_nonce = 5, .forwarder_nonce = 0, .client = 7, .run = forwarded_run};
    const auto word = forward::word_of_hello(forward::key_of(forwarder_token).value(), greeting);
    const forward::Request hello{.file = 7, .offset = 5, .number = word, .path = forwarded_run};
    send(connection, forward::FrameKind::hello, encode(hello), timeout).value();
    const auto answer = forward::receive(connection, forward::limits::answer_bytes_max, timeout, timeout).value();
    REQUIRE(answer.kind == forward::FrameKind::go);
    greeting.forwarder_nonce = forward::decode_answer(answer.body).value().number;
    return {std::move(connection), greeting};
}

}  // namespace forebay::test
