#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "core/sys/tree.hpp"

namespace forebay::sys {

namespace {

// Empty where the kernel does not tell it.
std::string told_by_kernel(const char* name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name))
            return line.substr(std::min(line.find_first_of("0123456789abcdef", line.find(':')), line.size()));
    return "";
}

// The kernel tells it without a change, which files that other threads make at this moment would feel.
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
