#include "core/terminal/table.hpp"

#include <algorithm>

#include "core/base/show_text.hpp"

namespace forebay::cli {

namespace {

// Counts characters, not bytes: units such as "µm" are UTF-8.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Shown Table::text() const {
    std::vector<std::vector<std::string>> shown(1);
    for (const auto& column : columns_) shown[0].push_back(show_text(column.title));
    for (const auto& row : rows_) {
        shown.emplace_back();
        for (const auto& cell : row) shown.back().push_back(show_text(cell));
    }
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : shown)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    std::string out;
    const auto add = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string space(widths[i] - width_of(cells[i]), ' ');
            if (i > 0) line += "  ";
            line += columns_[i].right ? space + cells[i] : cells[i] + space;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    for (const auto& row : shown) add(row);
    return {out};
}

}  // namespace forebay::cli
