// Results as input of a chart tool, or as the scene of a plane.

#pragma once

#include <optional>

#include "core/terminal/json.hpp"
#include "insight/insitu/scene.hpp"
#include "program/look/plot_results.hpp"

namespace forebay::cli {

struct PlotStyle {
    bool over_time = false;          // series: over the application's time instead of steps
    std::optional<bool> log_x, log;  // empty: the default for these results
    int pixels = 1024;
    std::optional<Palette> palette = {};  // empty: the palette of the analysis, or ember
};

/// Series or lists, for forebay/charts.py of the Python package.
Json chart_json(const PlotResults& plot, const PlotStyle& style);

/// For a plane at one step.
Result<insitu::Scene> scene_of(const PlotResults& plot, const PlotStyle& style);

/// A plane of `columns` characters, two cells each, for the same tool. Returns `refused` as insitu::draw_png().
Result<Json> plane_json(const insitu::Scene& scene, int columns);

}  // namespace forebay::cli
