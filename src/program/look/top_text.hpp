// A TopView as lines of text of a given width and number, for a terminal's full screen and for `--once`. ASCII except
// names. Text from files is escaped (base/show_text.hpp).

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
    std::size_t rows = 0;  // 0: unlimited, with nodes_unasked nodes
    NodeOrder order = NodeOrder::slowest;
    std::size_t first_node = 0;  // scroll position
    bool help = false;           // a last line of keys
};

inline constexpr std::size_t nodes_unasked = 16;

/// At most `rows` lines of at most `columns` columns. If there is no room, the least important parts are left out
/// first.
std::vector<TopLine> lines_of(const TopView& view, const TopScreen& screen);

/// columns_of(): terminal columns of a text. clipped(): the part of it that fits.
std::size_t columns_of(std::string_view text);
std::string clipped(const std::string& text, std::size_t columns);

}  // namespace forebay::cli
