#include "core/terminal/say.hpp"

#include <cstdio>

namespace forebay::cli {

void say(const Shown& shown) { std::fputs(shown.text.c_str(), stdout); }
void note(const Shown& shown) { std::fputs(shown.text.c_str(), stderr); }

void print_error(const Error& error) { std::fputs((show_message(error.text()) + "\n").c_str(), stderr); }

}  // namespace forebay::cli
