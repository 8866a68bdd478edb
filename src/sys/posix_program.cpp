#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "sys/posix_error.hpp"
#include "sys/posix_spawn.hpp"
#include "sys/program.hpp"

namespace forebay::sys {

std::string program_path() {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

Error become(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment) {
    for (const auto& [name, value] : environment)
        if (::setenv(name.c_str(), value.c_str(), 1) != 0) return posix_error("setenv", name, errno);
    auto all = arguments;
    all.insert(all.begin(), program);
    const auto pointers = pointers_to(all);
    std::fflush(nullptr);  // or what is buffered is never printed
    ::execvp(program.c_str(), pointers.data());
    return posix_error("start of program", program, errno);
}

}  // namespace forebay::sys
