// Results as a chart of lines, or as a scene of a plane, whatever it is then drawn on.

#pragma once

#include <optional>

#include "insight/insitu/chart.hpp"
#include "insight/insitu/scene.hpp"
#include "program/look/plot_results.hpp"

namespace forebay::cli {

struct PlotStyle {
    bool over_time = false;          // series: over the application's time instead of steps
    std::optional<bool> log_x, log;  // none: as it is the rule for these results
    int pixels = 1024;
    std::optional<Palette> palette = {};  // none: that of the analysis, or ember
};

/// Of series, a panel for each unit; of lists, a line for each result and step. `refused` where that is too much for
/// one chart, or axes differ.
Result<insitu::Chart> chart_of(const PlotResults& plot, const PlotStyle& style);

/// Of a plane at one step.
Result<insitu::Scene> scene_of(const PlotResults& plot, const PlotStyle& style);

}  // namespace forebay::cli
