#include "program/look/plot_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "insight/insitu/colour_scale.hpp"
#include "insight/insitu/palette.hpp"

namespace forebay::cli {

namespace {

constexpr int plane_columns_max = 200, plane_rows_max = 40;  // of a terminal
constexpr int plane_colours = 250;

std::string moment_words(const PlotPoint& point) { return fmt::format("step {}   t = {:.6g}", point.step, point.time); }

/// The palette of the analysis for a plane.
Palette palette_of(const Variable& variable) {
    for (const auto& [key, value] : variable.attributes.others)
        if (const auto* const text = std::get_if<std::string>(&value); text != nullptr && key == "palette")
            for (const auto& word : describe::palette_words)
                if (*text == word.name) return word.value;
    return Palette::ember;
}

Json numbers_json(const std::vector<double>& numbers) {
    auto array = Json::array();
    for (const double number : numbers) array.push(number);
    return array;
}

Json choice_json(const std::optional<bool>& choice) {
    return choice ? Json(*choice) : Json(std::nan(""));  // null: the tool decides
}

/// A plane reduced to columns and rows, first row at the bottom. Each value is the mean of a box of elements.
std::vector<float> small_plane(const insitu::Scene& scene, int columns, int rows) {
    std::vector<float> small;
    const auto at = [](std::uint64_t elements, int i, int of) {
        return elements * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(of);
    };
    for (int row = 0; row < rows; ++row) {
        const auto y_first = at(scene.height, row, rows),
                   y_end = std::max(y_first + 1, at(scene.height, row + 1, rows));
        for (int column = 0; column < columns; ++column) {
            const auto x_first = at(scene.width, column, columns);
            const auto x_end = std::max(x_first + 1, at(scene.width, column + 1, columns));
            double sum = 0;
            std::uint64_t count = 0;
            for (auto y = y_first; y < y_end; ++y) {
                for (auto x = x_first; x < x_end; ++x) {
                    const double value = scene.values[y * scene.width + x];
                    if (!std::isfinite(value)) continue;
                    sum += value;
                    ++count;
                }
            }
            small.push_back(count == 0 ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(sum / static_cast<double>(count)));
        }
    }
    return small;
}

}  // namespace

Json chart_json(const PlotResults& plot, const PlotStyle& style) {
    auto results = Json::array();
    for (const auto& result : plot.results) {
        auto points = Json::array();
        for (const auto& point : result.points) {
            auto object = Json::object();
            object.set("step", point.step).set("time", point.time).set("values", numbers_json(point.values));
            points.push(object.set("along", numbers_json(point.along[0])));
        }
        auto object = Json::object();
        object.set("name", show_text(result.name)).set("unit", show_text(result.variable.attributes.unit));
        object.set("words", show_text(result.words())).set("axis", show_text(result.axes[0]));
        object.set("sizes", result.is_sizes).set("log", result.is_log);
        results.push(object.set("points", points));
    }
    auto chart = Json::object();
    chart.set("kind", plot.kind == PlotKind::series ? "series" : "lines").set("stream", show_text(plot.stream));
    chart.set("of_analysis", plot.is_of_analysis).set("over_time", style.over_time);
    chart.set("log_x", choice_json(style.log_x)).set("log", choice_json(style.log)).set("pixels", style.pixels);
    return chart.set("panels_max", plot_panels_max).set("results", results);
}

Result<Json> plane_json(const insitu::Scene& scene, int columns) {
    columns = std::clamp(columns, 1, plane_columns_max);
    // A character is twice as high as wide.
    int rows = static_cast<int>(
        std::lround(0.5 * columns * static_cast<double>(scene.height) / static_cast<double>(scene.width)));
    if (rows > plane_rows_max) {
        columns = std::max(8, columns * plane_rows_max / rows);
        rows = plane_rows_max;
    }
    rows = 2 * std::max(rows, 2);  // with colours a character shows two cells
    const auto cells = small_plane(scene, columns, rows);
    FB_TRY_ASSIGN(scale, insitu::ColourScale::over(cells, scene.low, scene.high, scene.log,
                                                   insitu::is_around_zero(scene.palette)));
    std::vector<std::uint8_t> steps(cells.size());
    scale.steps_of(cells, plane_colours, steps);
    auto places = Json::array(), colours = Json::array();
    for (const auto step : steps) places.push(step == insitu::ColourScale::none ? -1 : static_cast<int>(step));
    for (const auto& [red, green, blue] : insitu::colours_of(scene.palette, plane_colours))
        colours.push(fmt::format("{};{};{}", red, green, blue));
    auto plane = Json::object();
    plane.set("kind", "plane").set("title", show_text(scene.title)).set("label", show_text(scene.label));
    plane.set("x_label", show_text(scene.x_label)).set("x", numbers_json({scene.x_low, scene.x_high}));
    plane.set("y_label", show_text(scene.y_label)).set("y", numbers_json({scene.y_low, scene.y_high}));
    plane.set("low", scale.low()).set("high", scale.high()).set("log", scene.log);
    return plane.set("columns", columns).set("cells", places).set("palette", colours);
}

Result<insitu::Scene> scene_of(const PlotResults& plot, const PlotStyle& style) {
    const auto& result = plot.results.front();
    if (result.points.size() > 1)
        return Error{ErrorKind::refused,
                     fmt::format("'{}' of {} steps needs as many pictures", result.name, result.points.size()), "",
                     "give one step. forebay movie RUN joins the pictures of a run"};
    const auto& point = result.points.front();
    const auto rows = point.shape[0], columns = point.shape[1];
    // In a histogram of x and y the first dimension is x. It goes across.
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
