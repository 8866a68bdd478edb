// Charts: lines over an axis, in panels one above the other, with a legend where there are several. As PNG, by the
// canvas of this room; other renderings take the same chart and its axes.

#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "forebay/result.hpp"
#include "insight/insitu/ticks.hpp"

namespace forebay::insitu {

/// Points in their order, each linked to the next one. What an axis cannot show, such as NaN, is a gap.
struct ChartLine {
    std::string label;         // "step 120"
    std::vector<double> x, y;  // as many
    bool has_marks = false;    // each point is marked
};

struct ChartPanel {
    std::string label;  // above it: "temperature [K]"
    bool log = false;   // its values by the logarithm
    std::vector<ChartLine> lines;
};

struct Chart {
    std::string title;
    std::string x_label;
    bool log_x = false;
    bool is_ordered = false;  // lines follow each other, as steps do: so do their colours
    std::vector<ChartPanel> panels;
    int pixels = 1024;  // of the picture's width
};

/// From values to their places along a side.
struct ChartAxis {
    bool log = false;
    double low = std::numeric_limits<double>::infinity(), high = -low;

    void take(std::span<const double> values);
    /// After all values: leaves that share of the length free at both ends; an axis without a range is given one.
    void finish(double margin);
    bool shows(double value) const { return value >= low && value <= high; }
    double share_of(double value) const;  // 0 at `low` to 1; of a value that it shows
    Ticks ticks(int most) const { return log ? log_ticks(low, high, most) : linear_ticks(low, high, most); }
};

struct ChartAxes {
    ChartAxis x;
    std::vector<ChartAxis> y;  // of each panel
};
/// `refused` for a chart without a panel, and with a line of which the axes can show nothing.
Result<ChartAxes> axes_of(const Chart& chart);

/// Lines that a panel has at most: as many colours can be told apart.
inline constexpr std::size_t chart_lines_max = 12;

/// The file's bytes; errors as axes_of(), and `refused` for more than chart_lines_max lines.
Result<std::vector<std::byte>> draw_png(const Chart& chart);

}  // namespace forebay::insitu
