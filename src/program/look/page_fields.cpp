#include "program/look/page_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/format/packed.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/plane.hpp"
#include "insight/insitu/scene.hpp"
#include "program/look/page_parameters.hpp"
#include "program/look/page_projection.hpp"

namespace forebay::cli {

namespace {

using Tree = nlohmann::ordered_json;

constexpr std::size_t menu_steps_max = 100, menu_names_max = 500;
constexpr std::size_t histogram_bins = 64;

Tree array_json(const Variable& variable) {
    Tree shape = Tree::array(), names = Tree::array();
    for (int dim = 0; dim < variable.shape.dims(); ++dim) {
        shape.push_back(variable.shape[dim]);
        names.push_back(insitu::dimension_name(variable, dim));
    }
    return {{"name", variable.name}, {"unit", insitu::units_of(variable).unit}, {"shape", shape}, {"dims", names}};
}

bool is_real(const Variable& variable) { return static_cast<bool>(insitu::RealNumbers::of(variable)); }

Tree stream_json(const std::string& stream, const std::vector<catalog::Snapshot>& snapshots, const Schema& schema) {
    Tree steps = Tree::array(), arrays = Tree::array(), columns = Tree::array();
    for (const auto& snapshot : snapshots)
        if (steps.size() < menu_steps_max) steps.push_back(snapshot.step);
    for (const auto& variable : schema.variables) {
        if (!is_real(variable)) continue;
        if (variable.kind == Kind::array && variable.shape.dims() >= 2 && arrays.size() < menu_names_max)
            arrays.push_back(array_json(variable));
        if (variable.kind == Kind::particles && columns.size() < menu_names_max)
            columns.push_back({{"name", variable.name},
                               {"unit", insitu::units_of(variable).unit},
                               {"table", schema.tables[variable.table]}});
    }
    return {{"name", stream}, {"steps", steps}, {"arrays", arrays}, {"columns", columns}};
}

std::string axis_label(const Variable& variable, int dim) {
    return fmt::format("{} [element]", insitu::dimension_name(variable, dim));
}

}  // namespace

Result<std::string> field_menu(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    Tree fields = Tree::array(), results = Tree::array();
    for (const auto& stream : streams) {
        if (format::is_packed_stream(stream)) continue;
        const auto snapshots = catalog::snapshots(store, run, stream);
        if (!snapshots || snapshots->empty()) continue;  // removed since it was listed
        const auto manifest = catalog::load_manifest(store, snapshots->front().directory);
        if (!manifest && manifest.error().kind == ErrorKind::missing) continue;
        if (!manifest) {
            fields.push_back({{"name", stream}, {"error", manifest.error().line()}});
            continue;
        }
        if (describe::is_result(manifest->schema)) results.push_back(stream);
        else fields.push_back(stream_json(stream, *snapshots, manifest->schema));
    }
    return Tree{{"streams", fields}, {"results", results}}.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

Result<std::string> plane_png(const FieldPlane& plane, const report::PageQuery& query) {
    FB_TRY_ASSIGN(style, plane_style_of(query));
    const auto& variable = plane.variable;
    const auto unit = insitu::units_of(variable).unit;
    insitu::Scene scene;
    scene.values = plane.values;
    scene.width = plane.width;
    scene.height = plane.height;
    scene.title = fmt::format("{}   step {}   t = {:.6g}", variable.name, plane.moment.step, plane.moment.time);
    if (plane.axis >= 0)
        scene.title += fmt::format("   {} = {}", insitu::dimension_name(variable, plane.axis), plane.index);
    if (plane.x_stride * plane.y_stride > 1)
        scene.title += fmt::format("   1 of {} x {} elements", plane.y_stride, plane.x_stride);
    scene.label = unit.empty() ? std::string() : fmt::format("[{}]", unit);
    scene.x_label = axis_label(variable, plane.x_dim);
    scene.y_label = axis_label(variable, plane.y_dim);
    scene.x_high = static_cast<double>(variable.shape[plane.x_dim]);
    scene.y_high = static_cast<double>(variable.shape[plane.y_dim]);
    scene.palette = style.palette;
    scene.log = style.log;
    scene.low = style.low;
    scene.high = style.high;
    scene.pixels = style.pixels;
    FB_TRY_ASSIGN(png, insitu::draw_png(scene));
    return std::string(reinterpret_cast<const char*>(png.data()), png.size());
}

Result<std::string> plane_histogram(const FieldPlane& plane, bool log) {
    const auto place = [&](float value) { return log ? std::log10(static_cast<double>(value)) : value; };
    const auto counts_in = [&](float value) { return std::isfinite(value) && (!log || value > 0); };
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    std::uint64_t count = 0;
    for (const float value : plane.values) {
        if (!counts_in(value)) continue;
        low = std::min(low, place(value));
        high = std::max(high, place(value));
        sum += value;
        ++count;
    }
    std::vector<std::uint64_t> bins(count > 0 ? histogram_bins : 0);
    const double per_bin = high > low ? histogram_bins / (high - low) : 0;
    for (const float value : plane.values)
        if (counts_in(value))
            ++bins[std::min(histogram_bins - 1, static_cast<std::size_t>((place(value) - low) * per_bin))];
    const auto real = [&](double at) { return log ? std::pow(10.0, at) : at; };
    Tree tree{{"unit", insitu::units_of(plane.variable).unit},
              {"log", log},
              {"counts", bins},
              {"count", count},
              {"left_out", plane.values.size() - count}};
    if (count > 0) {
        tree["low"] = real(low);
        tree["high"] = real(high);
        tree["mean"] = sum / static_cast<double>(count);
    }
    return tree.dump();
}

Result<std::string> ProjectionMaker::png(const report::PageQuery& query) {
    FB_TRY_ASSIGN(stream, needed_text(query, "stream"));
    FB_TRY_ASSIGN(step, whole_of(query, "step", -1, {-1, std::numeric_limits<std::int64_t>::max()}));
    FB_TRY_ASSIGN(snapshot, fields_.snapshot_of(stream, step));
    constexpr std::size_t kept_max = 16;
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, snapshot.directory));
    const auto key = std::pair(manifest.snapshot_id, query);
    const auto known = std::ranges::find(kept_, key, [](const auto& entry) { return entry.first; });
    if (known != kept_.end()) return known->second;
    FB_TRY_ASSIGN(png, make(snapshot, manifest, query));
    if (kept_.size() >= kept_max) kept_.erase(kept_.begin());
    kept_.emplace_back(key, png);
    return png;
}

Result<std::string> ProjectionMaker::make(const catalog::Snapshot& snapshot, const format::Manifest& manifest,
                                          const report::PageQuery& query) {
    FB_TRY_ASSIGN(style, plane_style_of(query));
    if (query.contains("x")) {
        FB_TRY_ASSIGN(x, needed_text(query, "x"));
        FB_TRY_ASSIGN(y, needed_text(query, "y"));
        return project_particles(store_, snapshot, manifest, {x, y}, style);
    }
    FB_TRY_ASSIGN(variable, needed_text(query, "variable"));
    FB_TRY_ASSIGN(axis, whole_of(query, "axis", 0, {0, dims_max - 1}));
    return project_array(store_, snapshot, manifest, {variable, static_cast<int>(axis)}, style);
}

}  // namespace forebay::cli
