// The terminal as a full screen of lines, redrawn repeatedly, with keys. screen_curses.cpp uses ncurses. A build
// without ncurses has screen_none.cpp, which opens none.
//
// One object at a time, used by one thread. The destructor restores the terminal.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "forebay/result.hpp"
#include "program/look/top_text.hpp"

namespace forebay::cli {

enum class Key { none, quit, up, down, page_up, page_down, first, last, sort, resized, other };

class Terminal {
public:
    /// True if this build has screens.
    static bool is_in_build();
    /// Returns `refused` if standard input and output are no terminal, or the terminal cannot be drawn on.
    static Result<std::unique_ptr<Terminal>> open();

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    std::size_t columns() const;
    std::size_t rows() const;
    /// Draws from the first row on; rows below are empty.
    void draw(const std::vector<TopLine>& lines);
    /// Waits at most so long. A resize of the terminal is a key, too.
    Key wait(std::chrono::milliseconds most);

private:
    struct Curses;
    explicit Terminal(std::unique_ptr<Curses> curses);
    std::unique_ptr<Curses> curses_;
};

}  // namespace forebay::cli
