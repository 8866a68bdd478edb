// Loopback addresses for servers that are stopped and started again.

#pragma once

#include <stdexcept>
#include <string>

#include "core/sys/machine.hpp"
#include "core/sys/socket.hpp"

namespace forebay::test {

/// An address with a port below 32,768, where the kernel's automatic ports begin. So the port is still free when the
/// second server starts.
inline std::string free_address() {
    constexpr std::uint64_t first = 15'000, count = 17'000;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const auto address = sys::with_port("127.0.0.1", static_cast<std::uint16_t>(first + sys::random_u64() % count));
        if (sys::Listener::open(address)) return address;
    }
    throw std::runtime_error("no port is free");
}

}  // namespace forebay::test
