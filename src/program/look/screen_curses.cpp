#define NCURSES_NOMACROS  // they are words such as "move" and "timeout"
#include <curses.h>

#include <algorithm>
#include <clocale>
#include <cstdio>

#include "core/sys/machine.hpp"
#include "program/look/screen.hpp"

namespace forebay::cli {

namespace {

// ncurses waits this long for the rest of a key that begins with an escape.
constexpr int escape_ms_max = 25;

attr_t attributes_of(TopStyle style, bool colours) {
    switch (style) {
        case TopStyle::title: return A_REVERSE | A_BOLD;
        case TopStyle::head: return A_BOLD;
        case TopStyle::bad: return colours ? COLOR_PAIR(1) | A_BOLD : A_BOLD;
        case TopStyle::good: return colours ? COLOR_PAIR(2) : A_NORMAL;
        case TopStyle::plain: break;
    }
    return A_NORMAL;
}

Key key_of(int code) {
    switch (code) {
        case ERR: return Key::none;
        case 'q':
        case 'Q':
        case 3: return Key::quit;  // control C, if the terminal sends it as a character
        case KEY_UP:
        case 'k': return Key::up;
        case KEY_DOWN:
        case 'j': return Key::down;
        case KEY_PPAGE: return Key::page_up;
        case KEY_NPAGE:
        case ' ': return Key::page_down;
        case KEY_HOME: return Key::first;
        case KEY_END: return Key::last;
        case 's': return Key::sort;
        case KEY_RESIZE: return Key::resized;
        default: return Key::other;
    }
}

}  // namespace

struct Terminal::Curses {
    SCREEN* screen = nullptr;
    bool colours = false;
};

bool Terminal::is_in_build() { return true; }

Result<std::unique_ptr<Terminal>> Terminal::open() {
    const Error none{ErrorKind::refused, "top needs a terminal, and standard output is not a terminal", "",
                     "forebay top RUN --once prints it as text"};
    if (!sys::is_terminal(sys::Output::standard)) return none;
    std::setlocale(LC_CTYPE, "");  // otherwise UTF-8 names are drawn byte by byte
    auto curses = std::make_unique<Curses>();
    curses->screen = ::newterm(nullptr, stdout, stdin);  // initscr() would end the program
    if (curses->screen == nullptr) return none;
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::set_escdelay(escape_ms_max);
    ::curs_set(0);
    if (::has_colors() && ::start_color() == OK && ::use_default_colors() == OK) {
        curses->colours = true;
        ::init_pair(1, COLOR_RED, -1);
        ::init_pair(2, COLOR_GREEN, -1);
    }
    return std::unique_ptr<Terminal>(new Terminal(std::move(curses)));
}

Terminal::Terminal(std::unique_ptr<Curses> curses) : curses_(std::move(curses)) {}

Terminal::~Terminal() {
    ::endwin();
    ::delscreen(curses_->screen);
}

std::size_t Terminal::columns() const { return static_cast<std::size_t>(std::max(1, ::getmaxx(stdscr))); }
std::size_t Terminal::rows() const { return static_cast<std::size_t>(std::max(1, ::getmaxy(stdscr))); }

void Terminal::draw(const std::vector<TopLine>& lines) {
    ::werase(stdscr);
    for (std::size_t row = 0; row < std::min(lines.size(), rows()); ++row) {
        ::wattrset(stdscr, static_cast<int>(attributes_of(lines[row].style, curses_->colours)));
        ::mvwaddstr(stdscr, static_cast<int>(row), 0, clipped(lines[row].text, columns()).c_str());
        if (lines[row].style == TopStyle::title) ::wchgat(stdscr, -1, A_REVERSE | A_BOLD, 0, nullptr);
    }
    ::wattrset(stdscr, A_NORMAL);
    ::wrefresh(stdscr);
}

Key Terminal::wait(std::chrono::milliseconds most) {
    ::wtimeout(stdscr, static_cast<int>(most.count()));
    return key_of(::wgetch(stdscr));
}

}  // namespace forebay::cli
