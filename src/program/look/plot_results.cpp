#include "program/look/plot_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "core/base/glob.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "insight/insitu/numbers.hpp"
#include "path/catalog/values.hpp"
#include "program/steps.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t named_max = 30;  // results listed by an error

/// A result, and the result with the places of its values. There is one edge more than values.
struct KnownAxis {
    std::string_view result, along;
    bool is_log;
};
constexpr std::array known_axes{KnownAxis{"power", "k", true}, KnownAxis{"modes", "k", true},
                                KnownAxis{"counts", "edges", false}};
/// Scalars about the making of a result, not about its value.
constexpr std::array<std::string_view, 7> asides{"nan", "inf", "left_out", "below", "above", "outside", "count"};

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }
std::string sibling(const std::string& name, std::string_view other) {
    return name.substr(0, name.rfind('/') + 1).append(other);
}
std::string with_unit(const std::string& words, const Variable& variable) {
    const auto& unit = variable.attributes.unit;
    return unit.empty() ? words : fmt::format("{} [{}]", words, unit);
}

struct PlotStep {
    catalog::Snapshot snapshot;
    format::Manifest manifest;
};

/// "NAME", or one element: "NAME[3]" or "NAME[0,2]".
struct Wanted {
    std::string name;
    std::vector<std::uint64_t> element;
    std::string words() const { return element.empty() ? name : fmt::format("{}[{}]", name, fmt::join(element, ",")); }
};

Wanted parse_wanted(const std::string& text) {
    const auto open = text.rfind('[');
    if (open == std::string::npos || !text.ends_with(']')) return {text, {}};
    Wanted wanted{text.substr(0, open), {}};
    const char *at = text.data() + open + 1, *const end = text.data() + text.size() - 1;
    while (at < end) {
        std::uint64_t number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || (next != end && *next != ',')) return {text, {}};
        wanted.element.push_back(number);
        at = next + (next != end ? 1 : 0);
    }
    return wanted;
}

/// The steps of a place, and the variables that can be drawn.
class PlotSource {
public:
    static Result<PlotSource> open(sys::Store& store, const std::string& place) {
        PlotSource source(store, place);
        const bool is_named = place.find('@') != std::string::npos || place.find("/step-") != std::string::npos;
        FB_TRY_ASSIGN(
            steps, find_steps(store, is_named ? place : place + "@all", std::chrono::seconds(0), StreamNeed::required));
        source.is_named_ = is_named;
        for (auto& snapshot : steps.snapshots) {
            auto manifest = catalog::load_manifest(store, snapshot.directory);
            if (!manifest) {
                FB_TRY_ASSIGN(removed, catalog::is_removed(store, snapshot.directory, 0));
                if (removed) continue;
                return manifest.error();
            }
            source.steps_.push_back({std::move(snapshot), std::move(*manifest)});
        }
        // The newest step that has a variable defines it.
        for (const auto& step : source.steps_)
            for (const auto& variable : step.manifest.schema.variables)
                if (variable.kind == Kind::replicated && variable.shape.dims() <= 2 &&
                    insitu::RealNumbers::of(variable))
                    source.drawable_.insert_or_assign(variable.name, variable);
        if (source.drawable_.empty()) return source.nothing();
        return source;
    }

    const std::map<std::string, Variable>& drawable() const { return drawable_; }
    bool has(const std::string& name) const { return drawable_.contains(name); }
    const std::string& place() const { return place_; }
    std::string stream() const { return steps_.front().snapshot.stream; }
    bool is_named() const { return is_named_; }
    bool is_of_analysis() const { return describe::is_result(steps_.back().manifest.schema); }
    std::string names() const {
        std::string text;
        std::size_t count = 0;
        for (const auto& [name, variable] : drawable_) {
            if (++count > named_max) return text + fmt::format(", and {} more", drawable_.size() - named_max);
            text += (text.empty() ? "" : ", ") + name;
        }
        return text;
    }

    /// Calls `use` for each step that has the first of the variables; others may be missing there.
    Result<> each_step(std::span<const std::string> names,
                       const std::function<Result<>(const PlotStep&, std::map<std::string, PlotPoint>&)>& use) const {
        for (const auto& step : steps_) {
            std::vector<std::size_t> wanted;
            const auto& variables = step.manifest.schema.variables;
            for (std::size_t i = 0; i < variables.size(); ++i)
                if (std::ranges::find(names, variables[i].name) != names.end() && has(variables[i].name))
                    wanted.push_back(i);
            const auto values = catalog::read_values(store_, step.snapshot.directory, step.manifest, wanted);
            if (!values) {
                FB_TRY_ASSIGN(removed, catalog::is_removed(store_, step.snapshot.directory, step.manifest.snapshot_id));
                if (removed) continue;
                return values.error();
            }
            std::map<std::string, PlotPoint> points;
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const auto& variable = variables[wanted[i]];
                FB_TRY_ASSIGN(numbers, insitu::RealNumbers::of(variable));
                auto& point = points[variable.name];
                point = {step.manifest.step, step.manifest.time, variable.shape, {}};
                point.values.resize(variable.elements());
                numbers.take_doubles((*values)[i], 0, point.values);
            }
            FB_TRY(use(step, points));
        }
        return {};
    }
    void keep_newest_with(const std::string& name) {
        const auto has_it = [&](const PlotStep& step) { return find(step.manifest.schema, name) != nullptr; };
        const auto newest = std::ranges::find_if(steps_.rbegin(), steps_.rend(), has_it);
        if (newest == steps_.rend()) return;
        PlotStep kept = std::move(*newest);
        steps_.clear();
        steps_.push_back(std::move(kept));
    }

private:
    PlotSource(sys::Store& store, std::string place) : store_(store), place_(std::move(place)) {}
    Error nothing() const {
        return {
            ErrorKind::missing,
            fmt::format(
                "{} has nothing to draw. A replicated variable of real numbers with at most two dimensions is needed",
                place_),
            "", fmt::format("forebay show {}", place_)};
    }

    sys::Store& store_;
    std::string place_;
    bool is_named_ = false;
    std::vector<PlotStep> steps_;
    std::map<std::string, Variable> drawable_;
};

/// The most useful results of a stream: group sizes, a spectrum or a picture, then means, then other scalars.
std::vector<Wanted> most_telling(const PlotSource& source) {
    std::vector<Wanted> list;
    const auto take = [&](const auto& wants) {
        for (const auto& [name, variable] : source.drawable())
            if (wants(name, variable)) list.push_back({name, {}});
        return !list.empty();
    };
    const auto is_aside = [](const std::string& name) {
        return std::ranges::find(asides, last_part(name)) != asides.end();
    };
    const auto is_scalar = [](const Variable& variable) { return variable.shape.dims() == 0; };
    const bool is_found =
        take([&](const auto& name, const auto&) {
            return last_part(name) == "count" && source.has(sibling(name, "left_out"));
        }) ||
        take([&](const auto&, const auto& variable) { return list.empty() && variable.shape.dims() == 2; }) ||
        take([&](const auto& name, const auto&) {
            const bool is_first = list.empty() || last_part(name) == "power";
            return is_first && (last_part(name) == "power" || last_part(name) == "counts") && name != last_part(name);
        }) ||
        take(
            [&](const auto& name, const auto& variable) { return is_scalar(variable) && last_part(name) == "mean"; }) ||
        take([&](const auto& name, const auto& variable) { return is_scalar(variable) && !is_aside(name); }) ||
        take([&](const auto&, const auto& variable) { return is_scalar(variable); }) ||
        take([&](const auto&, const auto&) { return list.empty(); });
    static_cast<void>(is_found);
    return list;
}

Result<std::vector<Wanted>> chosen(const PlotSource& source, const std::vector<std::string>& patterns) {
    if (patterns.empty()) return most_telling(source);
    std::vector<Wanted> list;
    for (const auto& pattern : patterns) {
        const auto wanted = parse_wanted(pattern);
        const auto before = list.size();
        for (const auto& [name, variable] : source.drawable())
            if (matches(wanted.name, name)) list.push_back({name, wanted.element});
        if (list.size() == before)
            return Error{ErrorKind::missing, fmt::format("{} has no result '{}'", source.place(), pattern), "",
                         fmt::format("choose one of {}", source.names())};
    }
    return list;
}

int dims_of(const PlotSource& source, const Wanted& wanted) {
    return wanted.element.empty() ? source.drawable().at(wanted.name).shape.dims() : 0;
}

Result<> check_together(const PlotSource& source, const std::vector<Wanted>& list) {
    const int dims = dims_of(source, list.front());
    for (const auto& wanted : list) {
        const auto& shape = source.drawable().at(wanted.name).shape;
        if (!wanted.element.empty() && static_cast<int>(wanted.element.size()) != shape.dims())
            return Error{ErrorKind::refused, fmt::format("'{}' is not an element: '{}' has the shape {}",
                                                         wanted.words(), wanted.name, show_shape(shape))};
        if (dims_of(source, wanted) != dims)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' and '{}' cannot be drawn together: they have {} and {} dimensions",
                                     list.front().words(), wanted.words(), dims, dims_of(source, wanted)),
                         "", fmt::format("choose results of one kind: {}", source.names())};
    }
    if (dims == 2 && list.size() > 1)
        return Error{ErrorKind::refused, "one picture cannot show two planes", "",
                     fmt::format("choose one: {} or {}", list[0].name, list[1].name)};
    return {};
}

/// The axes of a result, from results beside it or from its own attributes.
struct Companions {
    std::array<std::string, 2> names = {};  // of each dimension
    bool is_log = false;
};

Companions companions_of(const PlotSource& source, const std::string& name, int dims) {
    Companions beside;
    if (dims == 1) {
        for (const auto& [result, along, is_log] : known_axes)
            if (last_part(name) == result && source.has(sibling(name, along)))
                beside = {{sibling(name, along)}, is_log};
    } else if (dims == 2 && last_part(name) == "counts" && source.has(sibling(name, "x_edges"))) {
        beside.names = {sibling(name, "x_edges"), sibling(name, "y_edges")};
    }
    return beside;
}

std::array<std::string, 2> axis_words(const PlotSource& source, const Wanted& wanted, const Companions& beside) {
    const auto& variable = source.drawable().at(wanted.name);
    std::array<std::string, 2> words;
    const auto dims = static_cast<std::size_t>(variable.shape.dims());
    for (std::size_t dim = 0; dim < 2; ++dim) {
        words[dim] = "index";
        for (const auto& [key, value] : variable.attributes.others)
            if (const auto* const text = std::get_if<std::string>(&value);
                text != nullptr && key == (dim + 1 == dims ? "across" : "up"))
                words[dim] = *text;
        if (beside.names[dim].empty()) continue;
        const auto& along = source.drawable().at(beside.names[dim]);
        const auto last = last_part(along.name);
        // Edges belong to a variable's values. "x.y/counts" has two edges, each with its name.
        const auto& described = along.attributes.description;
        const auto of = along.name.substr(0, along.name.size() - last.size() - 1);
        words[dim] = with_unit(last == "edges" ? of : described.empty() ? std::string(last) : described, along);
    }
    return words;
}

void take_lengths(const Variable& variable, PlotPoint& point) {
    const auto length = [&](const char* key, std::uint64_t cells) {
        for (const auto& [name, value] : variable.attributes.others)
            if (const auto* const number = std::get_if<double>(&value); name == key && number != nullptr)
                return *number * static_cast<double>(cells);
        return 0.0;
    };
    if (point.shape.dims() == 2)
        point.length = {length("cell_height", point.shape[0]), length("cell_width", point.shape[1])};
}

/// Reduces to the requested element. Returns false if the step's list is too short.
bool take_element(const Wanted& wanted, PlotPoint& point) {
    if (wanted.element.empty()) return true;
    std::uint64_t at = 0;
    for (std::size_t dim = 0; dim < wanted.element.size(); ++dim) {
        if (wanted.element[dim] >= point.shape[static_cast<int>(dim)]) return false;
        at = at * point.shape[static_cast<int>(dim)] + wanted.element[dim];
    }
    point.values = {point.values[at]};
    point.shape = {};
    return true;
}

/// Each number of an application may need a panel. If there are too many, constant numbers are dropped first.
void keep_telling(std::vector<PlotResult>& results, std::vector<std::string>& names) {
    if (results.size() <= plot_panels_max) return;
    std::stable_partition(results.begin(), results.end(), [](const PlotResult& result) {
        return std::ranges::any_of(
            result.points, [&](const PlotPoint& point) { return point.values != result.points.front().values; });
    });
    results.resize(plot_panels_max);
    names.clear();
    for (const auto& result : results) names.push_back(result.variable.name);
}

}  // namespace

std::string PlotResult::words() const { return with_unit(name, variable); }

Result<PlotResults> read_plot_results(sys::Store& store, const PlotRequest& request) {
    FB_TRY_ASSIGN(source, PlotSource::open(store, request.place));
    FB_TRY_ASSIGN(list, chosen(source, request.patterns));
    FB_TRY(check_together(source, list));
    const int dims = dims_of(source, list.front());
    if (dims > 0 && !source.is_named()) source.keep_newest_with(list.front().name);
    PlotResults plot{.stream = source.stream(),
                     .is_of_analysis = source.is_of_analysis(),
                     .kind = dims == 0   ? PlotKind::series
                             : dims == 1 ? PlotKind::lines
                                         : PlotKind::plane,
                     .results = {},
                     .others = {}};
    std::vector<Companions> companions;
    std::vector<std::string> needed;
    for (const auto& wanted : list) {
        const auto& beside = companions.emplace_back(companions_of(source, wanted.name, dims));
        needed.push_back(wanted.name);
        for (const auto& name : beside.names)
            if (!name.empty()) needed.push_back(name);
        const bool is_sizes = dims == 1 && (last_part(wanted.name) == "members" || last_part(wanted.name) == "mass") &&
                              source.has(sibling(wanted.name, "count"));
        plot.results.push_back({.name = wanted.words(),
                                .variable = source.drawable().at(wanted.name),
                                .axes = axis_words(source, wanted, beside),
                                .is_sizes = is_sizes,
                                .is_log = is_sizes || beside.is_log,
                                .points = {}});
    }
    FB_TRY(source.each_step(needed, [&](const PlotStep& step, std::map<std::string, PlotPoint>& points) -> Result<> {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto match = points.find(list[i].name);
            if (match == points.end()) continue;
            auto point = match->second;
            if (!take_element(list[i], point)) continue;
            take_lengths(*find(step.manifest.schema, list[i].name), point);
            for (std::size_t dim = 0; dim < 2; ++dim)
                if (const auto along = points.find(companions[i].names[dim]); along != points.end())
                    point.along[dim] = along->second.values;
            plot.results[i].points.push_back(std::move(point));
        }
        return {};
    }));
    if (request.patterns.empty() && !source.is_of_analysis()) keep_telling(plot.results, needed);
    for (const auto& result : plot.results)
        if (result.points.empty())
            return Error{ErrorKind::missing, fmt::format("{} has no '{}' in its steps", request.place, result.name), "",
                         fmt::format("choose one of {}", source.names())};
    for (const auto& [name, variable] : source.drawable())
        if (std::ranges::find(needed, name) == needed.end()) plot.others.push_back(name);
    return plot;
}

}  // namespace forebay::cli
