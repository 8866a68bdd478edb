#include "program/look/screen.hpp"

namespace forebay::cli {

struct Terminal::Curses {};

bool Terminal::is_in_build() { return false; }

Result<std::unique_ptr<Terminal>> Terminal::open() {
    return Error{ErrorKind::unsupported, "this forebay cannot draw screens: it was built without ncursesw", "",
                 "use forebay top RUN --once, or build with libncurses-dev"};
}

Terminal::Terminal(std::unique_ptr<Curses> curses) : curses_(std::move(curses)) {}
Terminal::~Terminal() = default;
std::size_t Terminal::columns() const { return 0; }
std::size_t Terminal::rows() const { return 0; }
void Terminal::draw(const std::vector<TopLine>&) {}
Key Terminal::wait(std::chrono::milliseconds) { return Key::none; }

}  // namespace forebay::cli
