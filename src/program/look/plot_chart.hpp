// Results as what a tool draws as a chart, or as a scene of a plane.

#pragma once

#include <optional>

#include "core/terminal/json.hpp"
#include "insight/insitu/scene.hpp"
#include "program/look/plot_results.hpp"

namespace forebay::cli {

struct PlotStyle {
    bool over_time = false;          // series: over the application's time instead of steps
    std::optional<bool> log_x, log;  // none: as it is the rule for these results
    int pixels = 1024;
    std::optional<Palette> palette = {};  // none: that of the analysis, or ember
};

/// Series or lists, as forebay/charts.py of the Python package draws them.
Json chart_json(const PlotResults& plot, const PlotStyle& style);

/// Of a plane at one step.
Result<insitu::Scene> scene_of(const PlotResults& plot, const PlotStyle& style);

/// A plane as so many columns of characters, two cells a character, for the same tool. `refused` as insitu::draw_png().
Result<Json> plane_json(const insitu::Scene& scene, int columns);

}  // namespace forebay::cli
