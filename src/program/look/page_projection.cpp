#include "program/look/page_projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "insight/insitu/afterwards.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/scene.hpp"

namespace forebay::cli {

namespace {

// Some seconds on a modest disk. A projection reads its whole variables.
constexpr std::uint64_t projection_read_max_bytes = 2ull << 30;
constexpr int projection_bins_max = 512;

Result<> check_bytes(std::uint64_t bytes) {
    if (bytes <= projection_read_max_bytes) return {};
    return Error{ErrorKind::refused,
                 fmt::format("this projection would read {}, more than {}", show_bytes(bytes),
                             show_bytes(projection_read_max_bytes)),
                 "", "let the agent make it during the run: docs/how-to/analyse-while-it-runs.md"};
}

std::string bytes_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<insitu::AnalysisResults> only_result(sys::Store& store, const catalog::Snapshot& snapshot,
                                            const format::Manifest& manifest, const Analysis& analysis) {
    FB_TRY_ASSIGN(results, insitu::analyse_snapshot(store, snapshot, manifest, {&analysis, 1}, {}));
    if (!results.problems.empty()) return Error{ErrorKind::refused, results.problems.front()};
    if (results.results.empty()) return Error{ErrorKind::missing, "no particle of the snapshot is in this projection"};
    return std::move(results.results.front());
}

/// The operator's result whose name ends with `end`, as doubles.
Result<std::vector<double>> numbers_in(const insitu::AnalysisResults& results, std::string_view end) {
    const auto match =
        std::ranges::find_if(results.variables, [&](const auto& variable) { return variable.name.ends_with(end); });
    if (match == results.variables.end())
        return Error{ErrorKind::broken, fmt::format("the analysis made no '{}'", end)};
    Variable variable;
    variable.name = match->name;
    variable.type = match->type;
    FB_TRY_ASSIGN(numbers, insitu::RealNumbers::of(variable));
    std::vector<double> values(match->bytes.size() / match->type.size_bytes);
    numbers.take_doubles(match->bytes, 0, values);
    return values;
}

std::string column_label(const Variable& column) {
    const auto unit = insitu::units_of(column).unit;
    return unit.empty() ? column.name : fmt::format("{} [{}]", column.name, unit);
}

}  // namespace

Result<std::string> project_particles(sys::Store& store, const catalog::Snapshot& snapshot,
                                      const format::Manifest& manifest, const ColumnPair& columns,
                                      const PlaneStyle& style) {
    const auto* const x = find(manifest.schema, columns.x);
    const auto* const y = find(manifest.schema, columns.y);
    if (x == nullptr || y == nullptr || x->kind != Kind::particles || y->kind != Kind::particles ||
        x->table != y->table)
        return Error{ErrorKind::refused, "x and y must be columns of one table of particles"};
    std::uint64_t rows = 0;
    for (const auto& node : manifest.nodes) rows += x->table < node.rows.size() ? node.rows[x->table] : 0;
    FB_TRY(check_bytes(rows * (x->type.size_bytes + y->type.size_bytes)));
    const Analysis analysis{.name = "page",
                            .kind = Analysis::Kind::histogram_2d,
                            .variables = {columns.x, columns.y},
                            .bins = std::min(style.pixels, projection_bins_max)};
    FB_TRY_ASSIGN(results, only_result(store, snapshot, manifest, analysis));
    FB_TRY_ASSIGN(counts, numbers_in(results, "/counts"));
    FB_TRY_ASSIGN(x_edges, numbers_in(results, "/x_edges"));
    FB_TRY_ASSIGN(y_edges, numbers_in(results, "/y_edges"));
    insitu::Scene scene;
    scene.width = x_edges.size() - 1;
    scene.height = y_edges.size() - 1;
    scene.values.resize(counts.size());
    for (std::uint64_t row = 0; row < scene.height; ++row)  // in counts y is fastest
        for (std::uint64_t column = 0; column < scene.width; ++column)
            scene.values[row * scene.width + column] = static_cast<float>(counts[column * scene.height + row]);
    scene.title = fmt::format("{} particles   step {}   t = {:.6g}", rows, manifest.step, manifest.time);
    scene.label = "particles a cell";
    scene.x_label = column_label(*x);
    scene.y_label = column_label(*y);
    scene.x_low = x_edges.front();
    scene.x_high = x_edges.back();
    scene.y_low = y_edges.front();
    scene.y_high = y_edges.back();
    scene.palette = style.palette;
    scene.log = style.log;
    scene.low = style.low;
    scene.high = style.high;
    scene.pixels = style.pixels;
    FB_TRY_ASSIGN(png, insitu::draw_png(scene));
    return bytes_text(png);
}

Result<std::string> project_array(sys::Store& store, const catalog::Snapshot& snapshot,
                                  const format::Manifest& manifest, const ArrayAxis& which, const PlaneStyle& style) {
    const auto* const variable = find(manifest.schema, which.variable);
    if (variable == nullptr || variable->kind != Kind::array)
        return Error{ErrorKind::missing, fmt::format("there is no array '{}'", which.variable)};
    FB_TRY(check_bytes(variable->elements() * variable->type.size_bytes));
    const Analysis analysis{.name = "page",
                            .kind = Analysis::Kind::projection,
                            .variables = {which.variable},
                            .low = style.low,
                            .high = style.high,
                            .log = style.log,
                            .axis = which.axis,
                            .pixels = style.pixels,
                            .palette = style.palette};
    FB_TRY_ASSIGN(results, only_result(store, snapshot, manifest, analysis));
    if (results.pictures.empty()) return Error{ErrorKind::missing, "the projection is not a plane"};
    return bytes_text(results.pictures.front().png);
}

}  // namespace forebay::cli
