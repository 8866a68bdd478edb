#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

#include "sys/tree.hpp"

namespace forebay::sys {

namespace {

// The kernel tells it without a change, which files that other threads make at this moment would feel.
std::uint32_t own_umask() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("Umask:")) continue;
        const auto begin = line.find_first_of("01234567");
        std::uint32_t value = 0;
        if (begin != line.npos &&
            std::from_chars(line.data() + begin, line.data() + line.size(), value, 8).ec == std::errc())
            return value;
    }
    const auto umask = ::umask(077);
    ::umask(umask);
    return umask;
}

}  // namespace

void set_umask(std::uint32_t umask) { ::umask(umask); }

NewEntryOwner new_entry_owner() { return {.user = ::geteuid(), .group = ::getegid(), .umask = own_umask()}; }

}  // namespace forebay::sys
