#include "cli/screen.hpp"

namespace forebay::cli {

struct Screen::Curses {};

bool Screen::is_in_build() { return false; }

Result<std::unique_ptr<Screen>> Screen::open() {
    return Error{ErrorKind::unsupported, "this build draws no screens: it was made without ncursesw", "",
                 "forebay top RUN --once, or build with libncurses-dev"};
}

Screen::Screen(std::unique_ptr<Curses> curses) : curses_(std::move(curses)) {}
Screen::~Screen() = default;
std::size_t Screen::columns() const { return 0; }
std::size_t Screen::rows() const { return 0; }
void Screen::draw(const std::vector<TopLine>&) {}
Key Screen::wait(std::chrono::milliseconds) { return Key::none; }

}  // namespace forebay::cli
