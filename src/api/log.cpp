// Where the lines of a session go that the application takes no lines of.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "api/state.hpp"

namespace forebay {

std::function<void(const std::string&)> log_of(const Options& options) {
    if (options.log) return options.log;
    const char* wish = std::getenv("FOREBAY_LOG");
    const bool wished = wish != nullptr && std::string_view(wish) != "" && std::string_view(wish) != "0";
    if (!options.log_to_stderr && !wished) return {};
    return [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
}

}  // namespace forebay
