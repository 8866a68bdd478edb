// What `forebay plot` draws: results of some steps of a stream, as numbers, and what their axes stand for. Any
// replicated variable of real numbers will do, results of analyses or an application's own.

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
    std::vector<std::string> patterns;  // names with `*`, or "NAME[3]"; none: what says most of the stream
};

/// A result at one step.
struct PlotPoint {
    std::int64_t step = 0;
    double time = 0;
    Extents shape;
    std::vector<double> values;                     // row-major
    std::array<std::vector<double>, 2> along = {};  // of each dimension: places or edges of bins, where they are known
    std::array<double, 2> length = {0, 0};          // of each dimension, where that alone is known
};

struct PlotResult {
    std::string name;                      // "gas/members[0]"
    Variable variable;                     // of the newest step that has it
    std::array<std::string, 2> axes = {};  // words for each dimension, with their units
    bool is_sizes = false;                 // a list of sizes of groups, each for itself
    bool is_log = false;                   // of which both axes are by the logarithm as a rule
    std::vector<PlotPoint> points;         // by rising step; steps without it are left out
    std::string words() const;             // its name and unit
};

/// More of them are higher than a page.
inline constexpr std::size_t plot_panels_max = 6;

enum class PlotKind { series, lines, plane };

struct PlotResults {
    std::string stream;
    bool is_of_analysis = false;  // else an application's own variables
    PlotKind kind = PlotKind::series;
    std::vector<PlotResult> results;  // at least one, all of one kind
    std::vector<std::string> others;  // names of what could be drawn as well
};

/// `missing` where nothing is there to draw, and `refused` where it cannot be drawn together, with what there is.
/// A step that is removed meanwhile is left out. Of a place without steps, series have all, and others the newest.
Result<PlotResults> read_plot_results(sys::Store& store, const PlotRequest& request);

}  // namespace forebay::cli
