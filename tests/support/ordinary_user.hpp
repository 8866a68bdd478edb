// Runs code with the permissions of an ordinary user. Permissions do not restrict root, so root's tests fork a process.

#pragma once

#include <doctest/doctest.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

namespace forebay::test {

/// Runs `body` in a process of a user other than root and returns its text. Call it while no other thread runs.
inline std::string told_by_ordinary_user(const std::function<std::string()>& body) {
    constexpr uid_t nobody = 65534;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const bool ready =
            ::geteuid() != 0 || (::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0);
        std::string text = "this process cannot be another user";
        try {
            if (ready) text = body();
        } catch (const std::exception& thrown) {
            text = std::string("thrown: ") + thrown.what();
        }
        const auto wrote = ::write(ends[1], text.data(), text.size());
        ::_exit(wrote == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    return text;
}

}  // namespace forebay::test
