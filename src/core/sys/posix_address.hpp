// Addresses of hosts, as texts and in the kernel's form. For sys/posix_*.cpp only.

#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

struct AddressesFree {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, AddressesFree>;

/// All numbers of "host:port"; `flags` as in getaddrinfo(3). With AI_PASSIVE the host may be empty.
Result<Addresses> find_address(const std::string& address, int flags);
/// "192.0.2.7:4711"
std::string number_of(const sockaddr* address, socklen_t bytes);
std::uint16_t port_of(const sockaddr* address);

}  // namespace forebay::sys
