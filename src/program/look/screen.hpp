// The terminal as one screen of lines that are drawn again and again, and keys. By ncurses: screen_curses.cpp; where
// the build has none, screen_none.cpp, which opens none.
//
// One at a time, by one thread. The destructor gives the terminal back as it was.

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
    /// Whether this build has screens.
    static bool is_in_build();
    /// `refused` where standard input and output are no terminal, or one that cannot be drawn on.
    static Result<std::unique_ptr<Terminal>> open();

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    std::size_t columns() const;
    std::size_t rows() const;
    /// From the first row on; rows below are empty.
    void draw(const std::vector<TopLine>& lines);
    /// At most so long. What resizes the terminal is a key too.
    Key wait(std::chrono::milliseconds most);

private:
    struct Curses;
    explicit Terminal(std::unique_ptr<Curses> curses);
    std::unique_ptr<Curses> curses_;
};

}  // namespace forebay::cli
