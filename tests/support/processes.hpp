// State of other processes, and the files that they wrote.

#pragma once

#include <sys/types.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace forebay::test {

inline std::string text_in(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline bool alive(pid_t process) {
    // A zombie counts as ended. If process 1 is a shell, nobody collects its zombies.
    std::string state = text_in("/proc/" + std::to_string(process) + "/stat");
    state = state.substr(std::min(state.size(), state.rfind(')') + 2));
    return !state.empty() && state[0] != 'Z' && state[0] != 'X';
}

}  // namespace forebay::test
