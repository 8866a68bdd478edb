#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/base/try.hpp"
#include "core/sys/posix_error.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"
#include "core/sys/program.hpp"

namespace forebay::sys {

std::string program_path() {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

namespace {

// Not a pipe: it holds 64 KiB, and nobody reads it before this process has become the program.
Result<> set_input(std::string_view input) {
    const Fd memory(new_memory_file("input"));
    if (memory.get() < 0) return posix_error("memfd_create", "input", errno);
    while (!input.empty()) {
        const auto put = ::write(memory.get(), input.data(), input.size());
        if (put < 0 && errno != EINTR) return posix_error("write", "input", errno);
        if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::lseek(memory.get(), 0, SEEK_SET) < 0 || !becomes_standard({memory.get(), STDOUT_FILENO, STDERR_FILENO}))
        return posix_error("dup2", "input", errno);
    return {};
}

}  // namespace

Error become(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment, std::string_view input) {
    if (!input.empty())
        if (const auto set = set_input(input); !set) return set.error();
    for (const auto& [name, value] : environment)
        if (::setenv(name.c_str(), value.c_str(), 1) != 0) return posix_error("setenv", name, errno);
    auto all = arguments;
    all.insert(all.begin(), program);
    const auto pointers = pointers_to(all);
    std::fflush(nullptr);  // else the buffered text is never printed
    ::execvp(program.c_str(), pointers.data());
    return posix_error("start of program", program, errno);
}

Result<void*> function_beside(const std::string& library, const std::string& name) {
    Dl_info own{};
    if (::dladdr(reinterpret_cast<void*>(&function_beside), &own) == 0 || own.dli_fname == nullptr)
        return Error{ErrorKind::broken, "the path of this library is unknown"};
    const auto place = (std::filesystem::path(own.dli_fname).parent_path() / library).string();
    auto* loaded = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    const bool is_elsewhere = loaded == nullptr && !std::filesystem::exists(place);
    if (is_elsewhere) loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
        const char* why = ::dlerror();
        return Error{ErrorKind::missing, place + " cannot be loaded: " + (why != nullptr ? why : "no reason is given"),
                     "", "install forebay again, with its libraries"};
    }
    auto* const function = ::dlsym(loaded, name.c_str());
    if (function == nullptr) return Error{ErrorKind::broken, place + " has no " + name};
    return function;
}

Result<int> call_main(const std::string& library, const std::string& name, int count, char** arguments) {
    FB_TRY_ASSIGN(function, function_beside(library, name));
    return reinterpret_cast<int (*)(int, char**)>(function)(count, arguments);
}

}  // namespace forebay::sys
