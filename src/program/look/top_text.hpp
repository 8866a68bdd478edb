// A TopView as lines of text of a given width and number, for a terminal's whole screen and for `--once`. ASCII but for
// names. What is in the files is shown (base/show_text.hpp).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program/look/top_view.hpp"

namespace forebay::cli {

enum class TopStyle { plain, title, head, good, bad };

struct TopLine {
    std::string text;
    TopStyle style = TopStyle::plain;
};

struct TopScreen {
    std::size_t columns = 100;
    std::size_t rows = 0;  // 0: as many as there are to show, of nodes nodes_unasked
    NodeOrder order = NodeOrder::slowest;
    std::size_t first_node = 0;  // scrolled to
    bool help = false;           // a last line of keys
};

inline constexpr std::size_t nodes_unasked = 16;

/// At most `rows` lines of at most `columns` columns. What has no room is left out, the least important first.
std::vector<TopLine> lines_of(const TopView& view, const TopScreen& screen);

/// The columns that a text takes on a terminal, and as much of it as fits into `columns` of them.
std::size_t columns_of(std::string_view text);
std::string clipped(const std::string& text, std::size_t columns);

}  // namespace forebay::cli
