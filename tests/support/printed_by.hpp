// Captures the standard error of a body in a file.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace forebay::test {

inline std::string printed_by(const std::function<void()>& body, const std::string& path) {
    std::fflush(stderr);
    const int before = ::dup(2);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 2);
    body();
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    ::close(file);
    std::ifstream lines(path);
    return {std::istreambuf_iterator<char>(lines), {}};
}

}  // namespace forebay::test
