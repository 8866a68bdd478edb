// forebay plot: draws results of analyses, or an application's replicated variables, as a picture or in the terminal.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "insight/insitu/png.hpp"
#include "program/look/plot_chart.hpp"
#include "program/own_output.hpp"
#include "program/python_tool.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr int columns_without_terminal = 80;
constexpr int columns_beside_plane = 14;  // for the numbers of its axis
constexpr int pixels_least = 320, pixels_most = 8192;
constexpr std::size_t others_max = 12;  // names listed below a picture

struct PlotArguments {
    PlotRequest request;
    std::string to;
    std::string over = "step";
    std::string log;
    std::string palette;
    std::string python;
    int pixels = 1024;
    bool plain = false;
    bool replace = false;
    bool csv = false;
    bool json = false;
};

Result<PlotStyle> style_of(const PlotArguments& options) {
    PlotStyle style{.over_time = options.over == "time", .pixels = options.pixels};
    const auto refuse = [](const std::string& what) { return Error{ErrorKind::refused, what}; };
    if (options.over != "time" && options.over != "step")
        return refuse(fmt::format("--over must be step or time, not '{}'", options.over));
    if (options.pixels < pixels_least || options.pixels > pixels_most)
        return refuse(fmt::format("--pixels must be {} to {}", pixels_least, pixels_most));
    if (!options.log.empty()) {
        constexpr std::array<std::string_view, 4> words{"none", "x", "y", "xy"};
        const auto at = std::ranges::find(words, options.log) - words.begin();
        if (at == std::ssize(words))
            return refuse(fmt::format("--log must be x, y, xy or none, not '{}'", options.log));
        style.log_x = (at & 1) != 0;
        style.log = (at & 2) != 0;
    }
    if (options.palette.empty()) return style;
    const auto palette = std::ranges::find(describe::palette_words, options.palette,
                                           [](const auto& word) { return std::string_view(word.name); });
    if (palette == std::end(describe::palette_words))
        return refuse(fmt::format("--palette must be ember, tide, grey or balance, not '{}'", options.palette));
    style.palette = palette->value;
    return style;
}

void print_json(const PlotResults& plot) {
    auto array = Json::array();
    for (const auto& result : plot.results) {
        auto points = Json::array();
        for (const auto& point : result.points) {
            auto values = Json::array();
            for (const double value : point.values) values.push(value);
            auto object = Json::object();
            object.set("step", point.step).set("time", point.time).set("shape", json_of(point.shape));
            for (std::size_t dim = 0; dim < point.along.size(); ++dim) {
                if (point.along[dim].empty()) continue;
                auto along = Json::array();
                for (const double value : point.along[dim]) along.push(value);
                object.set(dim == 0 ? "along" : "along_second", along);
            }
            points.push(object.set("values", values));
        }
        auto object = Json::object();
        object.set("stream", plot.stream).set("result", result.name).set("unit", result.variable.attributes.unit);
        array.push(object.set("steps", points));
    }
    array.print();
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char byte : text) quoted.append(byte == '"' ? 2 : 1, byte);
    return quoted + "\"";
}

/// A line for each step and element. If a step lacks a result, its cell is empty.
void print_csv(const PlotResults& plot) {
    const auto dims = plot.kind == PlotKind::series ? 0 : plot.kind == PlotKind::lines ? 1 : 2;
    const auto along_of = [](const PlotResult& result) {
        return !result.points.front().along[0].empty() && result.points.front().shape.dims() == 1;
    };
    std::string head = "step,time";
    for (int dim = 0; dim < dims; ++dim) head += dim == 0 ? ",index" : ",second_index";
    for (const auto& result : plot.results)
        head += (along_of(result) ? "," + csv_cell(result.axes[0]) : "") + "," + csv_cell(result.words());
    say("{}\n", head);
    // Ordered by step, then by element.
    std::map<std::int64_t, std::vector<const PlotPoint*>> steps;
    for (std::size_t i = 0; i < plot.results.size(); ++i) {
        for (const auto& point : plot.results[i].points) {
            auto& points = steps[point.step];
            points.resize(plot.results.size());
            points[i] = &point;
        }
    }
    for (const auto& [step, points] : steps) {
        const auto& some = **std::ranges::find_if(points, [](const auto* point) { return point != nullptr; });
        std::size_t count = 0;
        for (const auto* const point : points) count = std::max(count, point == nullptr ? 0 : point->values.size());
        for (std::size_t i = 0; i < count; ++i) {
            auto line = fmt::format("{},{}", step, some.time);
            if (dims == 1) line += fmt::format(",{}", i);
            if (dims == 2) line += fmt::format(",{},{}", i / some.shape[1], i % some.shape[1]);
            for (std::size_t r = 0; r < points.size(); ++r) {
                const auto cell = [&](const std::vector<double>& values) {
                    return i < values.size() ? fmt::format(",{}", values[i]) : std::string(",");
                };
                static const std::vector<double> nothing;
                if (along_of(plot.results[r])) line += cell(points[r] == nullptr ? nothing : points[r]->along[0]);
                line += cell(points[r] == nullptr ? nothing : points[r]->values);
            }
            say("{}\n", line);
        }
    }
}

int columns_of_terminal() {
    const int columns = sys::terminal_columns();
    return columns > 0 ? columns : columns_without_terminal;
}

/// For the terminal, and for charts: executes the tool of the Python package in this process.
Error go_on_with(const PlotArguments& options, Json drawing, const PlotResults& plot) {
    const bool is_quiet = options.json || options.csv;
    auto others = Json::array();
    if (options.request.patterns.empty() && !is_quiet)
        for (const auto& name : plot.others) others.push(show_text(name));
    const bool has_colours =
        !options.plain && sys::is_terminal(sys::Output::standard) && std::getenv("NO_COLOR") == nullptr;
    drawing.set("others", others).set("to", options.to).set("plain", options.plain).set("colours", has_colours);
    if (!options.to.empty()) drawing.set("temporary", sys::temporary_beside(options.to));
    drawing.set("width", columns_of_terminal()).set("quiet", is_quiet);
    auto error = become_tool("charts", options.python, {}, drawing.line());
    error.safe = "the numbers can be read without it";
    if (error.next.empty()) error.next = "print them with --csv or --json";
    return error;
}

Result<> write_plane(const PlotArguments& options, const insitu::Scene& scene) {
    FB_TRY_ASSIGN(png, insitu::draw_png(scene));
    FB_TRY(sys::write_text_durable(sys::posix_store(), options.to,
                                   {reinterpret_cast<const char*>(png.data()), png.size()}));
    if (!options.json && !options.csv) say("{}  {} bytes\n", options.to, png.size());
    return {};
}

void say_others(const PlotResults& plot) {
    const auto count = std::min(others_max, plot.others.size());
    const std::vector<std::string> some(plot.others.begin(), plot.others.begin() + static_cast<std::ptrdiff_t>(count));
    say("\nFurther results: {}{}\n", fmt::format("{}", fmt::join(some, ", ")),
        count < plot.others.size() ? fmt::format(", and {} more", plot.others.size() - count) : "");
}

Result<Exit> plot_of(const PlotArguments& options) {
    FB_TRY_ASSIGN(style, style_of(options));
    if (!options.to.empty() && !options.to.ends_with(".png"))
        return Error{ErrorKind::refused, fmt::format("{}: the file of a plot must be PNG", options.to), "",
                     "give --to FILE.png. For numbers, --csv or --json"};
    if (options.csv && options.json) return Error{ErrorKind::refused, "give only one of --csv and --json"};
    if (!options.to.empty())
        FB_TRY(check_own_output(sys::posix_store(), options.to, options.replace, insitu::is_own_png,
                                "picture of forebay plot"));
    FB_TRY_ASSIGN(plot, read_plot_results(sys::target_store(), options.request));
    if (options.json) print_json(plot);
    else if (options.csv) print_csv(plot);
    const bool has_others = options.request.patterns.empty() && !plot.others.empty() && !options.json && !options.csv;
    if (options.to.empty() && (options.json || options.csv)) return Exit::good;
    if (plot.kind != PlotKind::plane) return go_on_with(options, chart_json(plot, style), plot);
    FB_TRY_ASSIGN(scene, scene_of(plot, style));
    if (options.to.empty()) {
        FB_TRY_ASSIGN(plane, plane_json(scene, columns_of_terminal() - columns_beside_plane));
        return go_on_with(options, std::move(plane), plot);
    }
    FB_TRY(write_plane(options, scene));
    if (has_others) say_others(plot);
    return Exit::good;
}

}  // namespace

void add_plot(CommandLine& line) {
    const auto options = std::make_shared<PlotArguments>();
    auto verb = line.verb("plot", "Draw results of analyses as lines over steps, or as a plane");
    verb.argument("RUN/STREAM.NAME", options->request.place, "The results of an analysis, for all steps or for @STEPS");
    verb.arguments("RESULT", options->request.patterns,
                   "The results to draw: names, patterns with *, or an element as in 'gas/members[0]'");
    verb.option("--to", options->to, "Write a picture, FILE.png, instead of drawing in the terminal");
    verb.flag("--replace", options->replace, "Replace a file that forebay plot has not drawn");
    verb.option("--over", options->over, "Draw numbers over step or time");
    verb.option("--log", options->log, "Use logarithmic axes: x, y, xy or none. For a plane, y means its colours");
    verb.option("--palette", options->palette,
                "Use these colours for a plane: ember, tide, grey or balance. Default: the colours of the analysis");
    verb.option("--pixels", options->pixels, "Set the width of a chart, or the longer side of a plane, in a file");
    verb.option("--python", options->python, "Use this Python. Charts in a file need matplotlib");
    verb.flag("--plain", options->plain, "Draw in the terminal only with ASCII");
    verb.flag("--csv", options->csv, "Print the numbers, one line for each step and element");
    verb.json(options->json,
              "  An array with an object for each result: stream, result, unit, steps: an array of step, time, shape, "
              "values\n  (row-major), and along (places or edges of bins; along_second for a second dimension).\n");
    verb.examples(
        "  forebay plot run7/state.numbers 'gas/*/mean' --to means.png\n  forebay plot run7/state.power@0,100,200 --to "
        "spectra.png\n  forebay plot run7/state.map@last --log y\n  forebay plot run7/state.groups 'gas/members[0]' "
        "--over time --csv\nWithout RESULT it draws the most useful result of the stream, and lists the rest. Numbers "
        "are drawn over all steps.\nLists and planes are drawn for the newest step, unless you give @STEPS. A list of "
        "group sizes is drawn as the\nnumber of groups of this size or larger. During a run it draws the committed "
        "results.\nPython draws everything in a file except a plane. A chart in a file needs matplotlib.\n");
    verb.action([options] { return plot_of(*options); });
}

}  // namespace forebay::cli
