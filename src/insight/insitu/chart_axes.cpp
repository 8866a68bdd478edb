// The axes of charts.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "insight/insitu/chart.hpp"

namespace forebay::insitu {

void ChartAxis::take(std::span<const double> values) {
    for (const double value : values) {
        // Beyond that, the length of the axis would be no double.
        if (!(std::abs(value) < std::numeric_limits<double>::max() / 4) || (log && value <= 0)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
}

void ChartAxis::finish(double margin) {
    if (low > high) {
        low = log ? 1 : 0;
        high = log ? 10 : 1;
    }
    // No marks could tell values apart that differ by their rounding alone.
    if (high - low <= 1e-13 * std::max(std::abs(low), std::abs(high))) {
        const double half = low == 0 ? 1 : std::abs(low) / 2;
        low = log ? low / 2 : low - half;
        high = log ? high * 2 : high + half;
    }
    if (log) {
        const double factor = std::pow(high / low, margin);
        low = std::max(low / factor, std::numeric_limits<double>::min());
        high = std::min(high * factor, std::numeric_limits<double>::max());
    } else {
        const double free = (high - low) * margin;
        low -= free;
        high += free;
    }
}

double ChartAxis::share_of(double value) const {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

Result<ChartAxes> axes_of(const Chart& chart) {
    if (chart.panels.empty()) return Error{ErrorKind::refused, "a chart without lines cannot be drawn"};
    ChartAxes axes{.x = {.log = chart.log_x}, .y = {}};
    for (const auto& panel : chart.panels) {
        auto& y = axes.y.emplace_back(ChartAxis{.log = panel.log});
        for (const auto& line : panel.lines) {
            axes.x.take(line.x);
            y.take(line.y);
        }
        if (y.low > y.high)
            return Error{ErrorKind::refused, fmt::format("'{}' has no value that {} can be drawn", panel.label,
                                                         panel.log ? "is above 0 and so" : "is finite and so")};
        y.finish(0.05);
    }
    axes.x.finish(0.02);
    return axes;
}

}  // namespace forebay::insitu
