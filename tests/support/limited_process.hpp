// Runs a body in a child process under a limit of the operating system.

#pragma once

#include <doctest/doctest.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

namespace forebay::test {

/// A user without other processes. The kernel counts some limits per user, and root has none of them.
inline constexpr uid_t limited_user = 54'323;

/// The exit code of `body` in a child: 99 if it throws, 128 plus the signal if a signal ended it.
inline int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            ::_exit(body());
        } catch (const std::exception& thrown) {
            std::fprintf(stderr, "the child threw: %s\n", thrown.what());
            ::_exit(99);
        }
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Changes the user of this process for good if it is root's. False on failure.
inline bool become_limited_user() {
    return ::geteuid() != 0 ||
           (::setgroups(0, nullptr) == 0 && ::setgid(limited_user) == 0 && ::setuid(limited_user) == 0);
}

/// Sets the soft limit. The process can raise it again.
inline bool limit_to(int resource, rlim_t most) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return false;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
}
inline bool lift_limit(int resource) { return limit_to(resource, RLIM_INFINITY); }

/// Makes the limited user the owner of the path.
inline void give_to_limited_user(const std::string& path) {
    if (::geteuid() == 0) REQUIRE(::chown(path.c_str(), limited_user, limited_user) == 0);
}

}  // namespace forebay::test
