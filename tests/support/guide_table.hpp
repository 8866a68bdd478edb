// Tables of the guide as readers see them. Tests compare them with the code.

#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace forebay::test {

/// A cell as readers see it: links become their texts, code marks are dropped.
inline std::string plain_cell(const std::string& cell) {
    std::string text;
    bool is_target = false;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (cell[i] == '(' && i > 0 && cell[i - 1] == ']') is_target = true;
        if (!is_target && std::string("[]`\"").find(cell[i]) == std::string::npos) text += cell[i];
        if (cell[i] == ')') is_target = false;
    }
    const auto first = text.find_first_not_of(' ');
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// The rows without heads of all tables in docs/reference/`page`, from the heading up to the next "## ".
inline std::vector<std::vector<std::string>> rows_of_guide(const std::string& page_name, const std::string& heading) {
    const auto* source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream page(std::string(source) + "/docs/reference/" + page_name);
    std::vector<std::vector<std::string>> rows;
    bool is_below = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) is_below = line == heading;
        if (!is_below || !line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        for (std::size_t at = 1, end = 0; (end = line.find('|', at)) != line.npos; at = end + 1)
            cells.push_back(plain_cell(line.substr(at, end - at)));
        rows.push_back(cells);
    }
    return rows;
}

}  // namespace forebay::test
