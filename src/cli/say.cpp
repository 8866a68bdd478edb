#include "cli/say.hpp"

#include <cstdio>

namespace forebay::cli {

void say(const Shown& shown) { std::fputs(shown.text.c_str(), stdout); }

void say_error(std::string text) {
    constexpr std::string_view name = "forebay: ";
    if (!text.starts_with(name)) text.insert(0, name);
    for (const std::string_view word : {" Safe: ", " Next: "})
        if (const auto at = text.find(word); at != std::string::npos && text[at - 1] == '.') text.insert(at, "\n ");
    std::fputs((show_message(text) + "\n").c_str(), stderr);
}

}  // namespace forebay::cli
