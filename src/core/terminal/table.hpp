// Columns of text for people: numbers to the right, words to the left, no spaces at the end of a line.

#pragma once

#include <string>
#include <vector>

namespace forebay::cli {

/// Text that commands no terminal: its names are made safe (base/show_text.hpp).
struct Shown {
    std::string text;
    Shown& operator+=(const Shown& more) {
        text += more.text;
        return *this;
    }
};

class Table {
public:
    struct Column {
        std::string title;
        bool right = false;
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell for each column.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }
    Shown text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace forebay::cli
