// Addresses of the loopback for servers that are ended and started again.

#pragma once

#include <stdexcept>
#include <string>

#include "core/sys/machine.hpp"
#include "core/sys/socket.hpp"

namespace forebay::test {

/// With a port that the kernel gives nobody of itself (it begins at 32,768), so that it is still free for the second
/// server when the first one has ended.
inline std::string free_address() {
    constexpr std::uint64_t first = 15'000, count = 17'000;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const auto address = sys::with_port("127.0.0.1", static_cast<std::uint16_t>(first + sys::random_u64() % count));
        if (sys::Listener::open(address)) return address;
    }
    throw std::runtime_error("no port is free");
}

}  // namespace forebay::test
