// Input of `forebay plot`: results of some steps of a stream as numbers, with their axes. Any replicated variable of
// real numbers can be drawn, from an analysis or an application.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "core/sys/store.hpp"

namespace forebay::cli {

struct PlotRequest {
    std::string place;                  // RUN/STREAM or RUN/STREAM@STEPS
    std::vector<std::string> patterns;  // names with `*`, or "NAME[3]"; empty: the most useful results
};

/// A result at one step.
struct PlotPoint {
    std::int64_t step = 0;
    double time = 0;
    Extents shape;
    std::vector<double> values;                     // row-major
    std::array<std::vector<double>, 2> along = {};  // of each dimension: places or edges of bins, if known
    std::array<double, 2> length = {0, 0};          // of each dimension, if only the length is known
};

struct PlotResult {
    std::string name;                      // "gas/members[0]"
    Variable variable;                     // of the newest step that has it
    std::array<std::string, 2> axes = {};  // text for each dimension, with unit
    bool is_sizes = false;                 // a list of group sizes, without places
    bool is_log = false;                   // usually both axes are logarithmic
    std::vector<PlotPoint> points;         // by rising step, only steps that have it
    std::string words() const;             // its name and unit
};

/// More panels are higher than a page.
inline constexpr std::size_t plot_panels_max = 6;

enum class PlotKind { series, lines, plane };

struct PlotResults {
    std::string stream;
    bool is_of_analysis = false;  // false: an application's own variables
    PlotKind kind = PlotKind::series;
    std::vector<PlotResult> results;  // at least one, all of one kind
    std::vector<std::string> others;  // names of other results that can be drawn
};

/// Returns `missing` if there is nothing to draw, `refused` if the results cannot be drawn together; the error lists
/// the candidates. A step removed meanwhile is skipped. Without steps, series use all steps and other kinds the newest.
Result<PlotResults> read_plot_results(sys::Store& store, const PlotRequest& request);

}  // namespace forebay::cli
