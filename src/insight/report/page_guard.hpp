// Whom the live page answers: who has its token, by a name of this machine.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::report {

/// 32 hexadecimal digits from the kernel's random source.
std::string new_token();
/// In a time that depends on the lengths alone.
bool is_same_token(std::string_view own, std::string_view given);
/// Whether a header "Host" names this machine: its loopback, with any port, since a tunnel's may be another one.
bool is_own_host(std::string_view host, const std::vector<std::string>& others);
/// Whether an address binds to the loopback alone.
bool is_loopback(std::string_view host);

}  // namespace forebay::report
