#include "insight/report/page_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/sys/machine.hpp"

namespace forebay::report {

std::string new_token() { return fmt::format("{:016x}{:016x}", sys::random_u64(), sys::random_u64()); }

bool is_same_token(std::string_view own, std::string_view given) {
    if (own.empty() || own.size() != given.size()) return false;
    // No early exit: the time must not depend on the first wrong digit.
    unsigned difference = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
        difference |= static_cast<unsigned char>(own[i]) ^ static_cast<unsigned char>(given[i]);
    return difference == 0;
}

bool is_own_host(std::string_view host, const std::vector<std::string>& others) {
    std::string name(host);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
    // A colon inside brackets belongs to an IPv6 address, not to a port.
    const auto colon = name.rfind(':');
    if (colon != std::string::npos && name.find(']', colon) == std::string::npos) {
        const auto port = name.substr(colon + 1);
        if (!std::ranges::all_of(port, [](unsigned char character) { return std::isdigit(character) != 0; }))
            return false;
        name.resize(colon);
    }
    return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || std::ranges::count(others, name) > 0;
}

bool is_loopback(std::string_view host) { return host == "127.0.0.1" || host == "localhost" || host == "::1"; }

}  // namespace forebay::report
