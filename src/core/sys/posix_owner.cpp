#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "core/sys/tree.hpp"

namespace forebay::sys {

namespace {

// Empty if the kernel does not report it.
std::string told_by_kernel(const char* name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name))
            return line.substr(std::min(line.find_first_of("0123456789abcdef", line.find(':')), line.size()));
    return "";
}

// The kernel's text comes first: umask(2) has to change the mask, and files that other threads make then would get it.
std::uint32_t own_umask() {
    const auto text = told_by_kernel("Umask:");
    std::uint32_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value, 8).ec == std::errc()) return value;
    const auto umask = ::umask(077);
    ::umask(umask);
    return umask;
}

}  // namespace

void set_umask(std::uint32_t umask) { ::umask(umask); }

std::string own_capabilities() { return told_by_kernel("CapEff:"); }

NewEntryOwner new_entry_owner() { return {.user = ::geteuid(), .group = ::getegid(), .umask = own_umask()}; }

}  // namespace forebay::sys
