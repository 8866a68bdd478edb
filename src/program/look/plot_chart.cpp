#include "program/look/plot_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/describe/analysis_list.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t panels_max = plot_panels_max;
constexpr std::size_t marks_max = 60;  // of a line: more of them are a thick line

std::string moment_words(const PlotPoint& point) { return fmt::format("step {}   t = {:.6g}", point.step, point.time); }

/// The colours that the analysis was to draw a plane in.
Palette palette_of(const Variable& variable) {
    for (const auto& [key, value] : variable.attributes.others)
        if (const auto* const text = std::get_if<std::string>(&value); text != nullptr && key == "palette")
            for (const auto& word : describe::palette_words)
                if (*text == word.name) return word.value;
    return Palette::ember;
}

/// The panel of lines with that unit; at the end there is one more where no panel has it, or where lines are alone.
insitu::ChartPanel& panel_of(insitu::Chart& chart, std::vector<std::string>& units, const std::string& unit,
                             bool is_alone = false) {
    const auto at = is_alone ? std::ssize(units) : std::ranges::find(units, unit) - units.begin();
    if (at == static_cast<std::ptrdiff_t>(units.size())) {
        units.push_back(unit);
        chart.panels.emplace_back();
    }
    return chart.panels[static_cast<std::size_t>(at)];
}

/// A panel with one line says what that is; others what their lines have in common.
Result<insitu::Chart> finished(insitu::Chart chart, const std::vector<std::string>& units, const std::string& advice) {
    if (chart.panels.size() > panels_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} panels are too many for one picture, {} are not", chart.panels.size(), panels_max),
                     "", advice};
    for (std::size_t i = 0; i < chart.panels.size(); ++i) {
        auto& panel = chart.panels[i];
        if (panel.lines.size() > insitu::chart_lines_max)
            return Error{ErrorKind::refused,
                         fmt::format("{} lines are too many for one chart, {} are not", panel.lines.size(),
                                     insitu::chart_lines_max),
                         "", advice};
        if (panel.label.empty() && panel.lines.size() == 1) panel.label = panel.lines.front().label + "   ";
        if (!units[i].empty()) panel.label += fmt::format("[{}]", units[i]);
        for (auto& line : panel.lines) line.has_marks = line.has_marks && line.x.size() <= marks_max;
    }
    return chart;
}

Result<insitu::Chart> series_chart(const PlotResults& plot, const PlotStyle& style) {
    insitu::Chart chart{.title = plot.stream,
                        .x_label = style.over_time ? "time" : "step",
                        .log_x = style.log_x.value_or(false),
                        .panels = {},
                        .pixels = style.pixels};
    std::vector<std::string> units;
    std::int64_t first = plot.results.front().points.front().step, last = first;
    for (const auto& result : plot.results) {
        // An application's numbers without units have nothing in common: a time step, and how many blocks there are.
        const auto& unit = result.variable.attributes.unit;
        auto& panel = panel_of(chart, units, unit, unit.empty() && !plot.is_of_analysis);
        panel.log = style.log.value_or(false);
        insitu::ChartLine line{.label = result.name, .x = {}, .y = {}, .has_marks = true};
        for (const auto& point : result.points) {
            line.x.push_back(style.over_time ? point.time : static_cast<double>(point.step));
            line.y.push_back(point.values.front());
            first = std::min(first, point.step);
            last = std::max(last, point.step);
        }
        panel.lines.push_back(std::move(line));
    }
    chart.title += first == last ? fmt::format("   step {}", first) : fmt::format("   steps {} to {}", first, last);
    return finished(std::move(chart), units, "name some of them, as in '*/mean'");
}

/// Bins of equal ratios, as an analysis by the logarithm makes them.
bool has_equal_ratios(const std::vector<double>& edges) {
    if (edges.size() < 4 || edges.front() <= 0) return false;
    const double first = edges[1] / edges[0], last = edges.back() / edges[edges.size() - 2];
    return first > 1 && std::abs(first - last) < 1e-6 * first;
}

/// The result at one step as points: sizes from the largest one on with their rank, bins as stairs, or each value.
insitu::ChartLine line_of(const PlotResult& result, const PlotPoint& point) {
    insitu::ChartLine line;
    const auto& along = point.along[0];
    if (result.is_sizes) {
        line.x = point.values;
        std::ranges::sort(line.x, std::greater());
        line.y.resize(line.x.size());
        std::iota(line.y.begin(), line.y.end(), 1.0);
        line.has_marks = true;
    } else if (along.size() == point.values.size() + 1) {
        for (std::size_t i = 0; i < point.values.size(); ++i) {
            line.x.insert(line.x.end(), {along[i], along[i + 1]});
            line.y.insert(line.y.end(), {point.values[i], point.values[i]});
        }
    } else {
        line.y = point.values;
        line.x = along;
        line.has_marks = true;
        if (along.size() != line.y.size()) {
            line.x.resize(line.y.size());
            std::iota(line.x.begin(), line.x.end(), 0.0);
        }
    }
    return line;
}

Result<insitu::Chart> lines_chart(const PlotResults& plot, const PlotStyle& style) {
    const auto& first = plot.results.front();
    const bool is_one_result = plot.results.size() == 1;
    const bool is_one_step = std::ranges::all_of(plot.results, [&](const PlotResult& result) {
        return result.points.size() == 1 && result.points.front().step == first.points.front().step;
    });
    const auto x_words = [](const PlotResult& result) { return result.is_sizes ? result.words() : result.axes[0]; };
    insitu::Chart chart{.title = plot.stream,
                        .x_label = x_words(first),
                        .log_x = style.log_x.value_or(first.is_log || has_equal_ratios(first.points.front().along[0])),
                        .is_ordered = is_one_result,
                        .panels = {},
                        .pixels = style.pixels};
    if (is_one_step) chart.title += "   " + moment_words(first.points.front());
    std::vector<std::string> units;
    for (const auto& result : plot.results) {
        if (x_words(result) != chart.x_label)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' and '{}' have different axes, {} and {}", first.name, result.name,
                                     chart.x_label, x_words(result)),
                         "", "draw one of them"};
        auto& panel = panel_of(chart, units, result.is_sizes ? "" : result.variable.attributes.unit);
        panel.log = style.log.value_or(result.is_log);
        if (result.is_sizes) panel.label = "how many are as large or larger";
        else if (is_one_result) panel.label = result.name + "   ";
        for (const auto& point : result.points) {
            auto line = line_of(result, point);
            line.label = is_one_result ? fmt::format("step {}", point.step)
                         : is_one_step ? result.name
                                       : fmt::format("{} step {}", result.name, point.step);
            panel.lines.push_back(std::move(line));
        }
    }
    return finished(std::move(chart), units, "name some steps, as in RUN/STREAM@0,100,200");
}

}  // namespace

Result<insitu::Chart> chart_of(const PlotResults& plot, const PlotStyle& style) {
    return plot.kind == PlotKind::series ? series_chart(plot, style) : lines_chart(plot, style);
}

Result<insitu::Scene> scene_of(const PlotResults& plot, const PlotStyle& style) {
    const auto& result = plot.results.front();
    if (result.points.size() > 1)
        return Error{ErrorKind::refused,
                     fmt::format("'{}' of {} steps is as many pictures", result.name, result.points.size()), "",
                     "name one step; forebay movie RUN joins the pictures that a run has made"};
    const auto& point = result.points.front();
    const auto rows = point.shape[0], columns = point.shape[1];
    // A histogram of x and y has x as its first dimension; it goes across.
    const bool is_turned = !point.along[0].empty();
    const std::size_t across = is_turned ? 0 : 1, up = 1 - across;
    insitu::Scene scene{.values = {}, .width = is_turned ? rows : columns, .height = is_turned ? columns : rows};
    scene.values.reserve(point.values.size());
    for (std::uint64_t y = 0; y < scene.height; ++y)
        for (std::uint64_t x = 0; x < scene.width; ++x)
            scene.values.push_back(static_cast<float>(point.values[is_turned ? x * columns + y : y * columns + x]));
    const auto ends = [&](std::size_t dim, double& low, double& high) {
        const auto cells = static_cast<double>(point.shape[static_cast<int>(dim)]);
        const auto& edges = point.along[dim];
        low = !edges.empty() ? edges.front() : point.length[dim] > 0 ? 0 : -0.5;
        high = !edges.empty() ? edges.back() : point.length[dim] > 0 ? point.length[dim] : cells - 0.5;
    };
    ends(across, scene.x_low, scene.x_high);
    ends(up, scene.y_low, scene.y_high);
    scene.x_label = result.axes[across];
    scene.y_label = result.axes[up];
    scene.title = fmt::format("{}   {}   {}", plot.stream, result.name, moment_words(point));
    scene.label = result.words();
    scene.palette = style.palette.value_or(palette_of(result.variable));
    scene.log = style.log.value_or(false);
    scene.pixels = style.pixels;
    return scene;
}

}  // namespace forebay::cli
