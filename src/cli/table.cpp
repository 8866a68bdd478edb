#include "cli/table.hpp"

#include <algorithm>

namespace forebay::cli {

namespace {

// Characters, not bytes: units such as "µm" are UTF-8.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string Table::text() const {
    std::vector<std::string> titles;
    for (const auto& column : columns_) titles.push_back(column.title);
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        widths.push_back(width_of(titles[i]));
        for (const auto& row : rows_) widths[i] = std::max(widths[i], width_of(row[i]));
    }
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
    add(titles);
    for (const auto& row : rows_) add(row);
    return out;
}

}  // namespace forebay::cli
