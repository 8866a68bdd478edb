// The live page answers only a request with its token and with a name of this machine.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::report {

/// 32 hexadecimal digits from the kernel's random source.
std::string new_token();
/// Takes a time that depends only on the lengths.
bool is_same_token(std::string_view own, std::string_view given);
/// True if a header "Host" names this machine. Any port is allowed, because a tunnel may use another port.
bool is_own_host(std::string_view host, const std::vector<std::string>& others);
/// True if the address binds only to the loopback.
bool is_loopback(std::string_view host);

}  // namespace forebay::report
