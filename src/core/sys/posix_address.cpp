#include "core/sys/posix_address.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "core/sys/posix_error.hpp"
#include "core/sys/process.hpp"
#include "core/sys/socket.hpp"

namespace forebay::sys {

namespace {

struct InterfacesFree {
    void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::string host_of(const sockaddr* address, socklen_t bytes) {
    std::array<char, NI_MAXHOST> host{};
    const int failed = ::getnameinfo(address, bytes, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
    return failed != 0 ? std::string() : std::string(host.data());
}

/// Empty for addresses that no other host can use: other families, and IPv6 numbers of a single link.
std::string host_of(const ifaddrs& interface) {
    if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0) return {};
    if (interface.ifa_addr->sa_family == AF_INET) return host_of(interface.ifa_addr, sizeof(sockaddr_in));
    if (interface.ifa_addr->sa_family != AF_INET6) return {};
    const auto& six = *reinterpret_cast<const sockaddr_in6*>(interface.ifa_addr);
    return IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) ? std::string() : host_of(interface.ifa_addr, sizeof(sockaddr_in6));
}

}  // namespace

Result<Addresses> find_address(const std::string& address, int flags) {
    const auto colon = address.rfind(':');
    std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
    const std::string port = colon == std::string::npos ? std::string() : address.substr(colon + 1);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    std::uint16_t number = 0;
    const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (wrong != std::errc() || end != port.data() + port.size() || (host.empty() && (flags & AI_PASSIVE) == 0) ||
        (!bracketed && host.find(':') != std::string::npos))
        return Error{ErrorKind::refused,
                     fmt::format("'{}' is not an address with host and port, such as \"host7:4711\"", address)};
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    hold_standard_descriptors();  // libc opens its own sockets to the name service
    addrinfo* raw = nullptr;
    const int failed = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &raw);
    Addresses addresses(raw);
    // A name service that is down for a while gives the same error as a wrong name.
    if (failed != 0) return Error{ErrorKind::retry, fmt::format("host {}: {}", host, ::gai_strerror(failed))};
    return addresses;
}

std::string number_of(const sockaddr* address, socklen_t bytes) {
    return with_port(host_of(address, bytes), port_of(address));
}

std::uint16_t port_of(const sockaddr* address) {
    if (address->sa_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
    if (address->sa_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(address)->sin6_port);
    return 0;
}

std::string with_port(const std::string& host, std::uint16_t port) {
    const bool six = host.find(':') != std::string::npos;
    return six ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<std::vector<std::string>> own_addresses(const std::string& wanted) {
    hold_standard_descriptors();
    ifaddrs* raw = nullptr;
    if (::getifaddrs(&raw) != 0) return posix_error("getifaddrs", "the interfaces of this host", errno);
    const std::unique_ptr<ifaddrs, InterfacesFree> all(raw);
    std::vector<std::string> hosts, loopback;
    for (const ifaddrs* interface = all.get(); interface != nullptr; interface = interface->ifa_next) {
        const auto host = host_of(*interface);
        if (host.empty()) continue;
        if (!wanted.empty() && wanted != interface->ifa_name && wanted != host) continue;
        (wanted.empty() && (interface->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : hosts).push_back(host);
    }
    if (hosts.empty()) hosts = loopback;
    if (hosts.empty())
        return Error{ErrorKind::missing,
                     wanted.empty() ? "this host has no address"
                                    : fmt::format("this host has no active interface or address '{}'", wanted)};
    return hosts;
}

}  // namespace forebay::sys
