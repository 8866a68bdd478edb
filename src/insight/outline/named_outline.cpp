// NamedOutline makes both conventions from the same parts. plain() shows one snapshot: attributes of the file, datasets
// of dimensions, then a dataset for each variable. netcdf() adds a leading time dimension with one entry for each
// snapshot. Columns have no time: their rows of all snapshots follow each other, and row_size holds each snapshot's
// count. A netCDF file has no groups (flat_names.hpp).
//
// The order of datasets matters: a variable refers to its dimensions by index in the outline. So dimensions come first
// (add_scales). A coordinate variable is its own dimension, and its index is computed in advance.

#include "insight/outline/named_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "insight/outline/dimensions.hpp"
#include "insight/outline/flat_names.hpp"
#include "insight/outline/limits.hpp"
#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

template <class T>
Outline::Holds held(const std::vector<T>& values) {
    Outline::Holds holds{std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(holds.bytes.data(), values.data(), holds.bytes.size());
    return holds;
}

/// The rows of each table over all snapshots, joined.
std::vector<std::uint64_t> rows_of_all(std::span<const Contents> contents) {
    auto rows = contents.front().table_rows;
    for (const auto& later : contents.subspan(1))
        for (std::size_t table = 0; table < rows.size() && table < later.table_rows.size(); ++table)
            rows[table] += later.table_rows[table];
    return rows;
}

class NamedOutline {
public:
    explicit NamedOutline(std::span<const Contents> contents)
        : contents_(contents),
          schema_(contents.front().manifest.schema),
          table_rows_(rows_of_all(contents)),
          dimensions_(plan_dimensions(schema_, table_rows_)) {}

    Outline plain() {
        for (const auto& variable : schema_.variables) {
            names_.push_back(variable.name);
            taken_.add(variable.name.substr(0, variable.name.find('/')));
        }
        for (const auto& dimension : dimensions_.all) taken_.add(leaf_of(dimension.path));
        const auto& manifest = contents_.front().manifest;
        outline_.groups.push_back({"",
                                   {{"Conventions", std::string("Forebay-plain-1")},
                                    {"forebay_version", std::string(FOREBAY_VERSION)},
                                    {"run", contents_.front().run},
                                    {"stream", schema_.stream},
                                    {"step", manifest.step},
                                    {"time", manifest.time},
                                    {"snapshot_id", fmt::format("{:016x}", manifest.snapshot_id)},
                                    {"node_files", static_cast<std::int64_t>(manifest.nodes.size())}}});
        for (auto& attribute : file_attributes()) set(outline_.groups.back().attributes, std::move(attribute));
        name_complex_types();
        add_scales();
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) add_variable(v);
        return std::move(outline_);
    }

    Result<Outline> netcdf() {
        for (std::size_t s = 1; s < contents_.size(); ++s) FB_TRY(check_same(s));
        FB_TRY(refuse_fixed(contents_.front().attributes, "netCDF", {"_NCProperties", "forebay_convention"}));
        is_timed_ = true;
        const auto& last = contents_.back().manifest;
        outline_.groups.push_back(
            {"",
             {{"_NCProperties", fmt::format("version=2,forebay={}", FOREBAY_VERSION)},
              {"Conventions", std::string("CF-1.8")},
              {"title", fmt::format("{}, {}", contents_.front().run, schema_.stream)},
              {"history", fmt::format("{}: step {} was saved by Forebay", date_text(last.sealed_unix_ns), last.step)},
              {"forebay_convention", std::string("Forebay-netcdf-2")},
              {"forebay_version", std::string(FOREBAY_VERSION)},
              {"run", contents_.front().run},
              {"stream", schema_.stream}}});
        for (auto& attribute : file_attributes()) set(outline_.groups.back().attributes, std::move(attribute));
        FB_TRY(find_grids());
        names_ = flatten(schema_, dimensions_, taken_);
        name_complex_types();
        add_time();
        add_scales();
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) add_variable(v);
        for (std::uint32_t table = 0; table < schema_.tables.size(); ++table) add_row_sizes(table);
        say_cf_version();
        // CF 1.8 has no whole numbers of 64 bits.
        for (auto& group : outline_.groups) narrow(group.attributes);
        for (auto& dataset : outline_.datasets) narrow(dataset.attributes);
        return std::move(outline_);
    }

private:
    std::vector<Outline::Attribute> file_attributes() const {
        std::vector<Outline::Attribute> attributes;
        for (const auto& [name, value] : contents_.front().attributes)
            if (name != "timeUnits" && name != h5part_table_key)
                attributes.push_back({name, std::visit([](const auto& any) -> Outline::Value { return any; }, value)});
        return attributes;
    }

    /// All steps in a file must have the same variables.
    Result<> check_same(std::size_t s) const {
        const auto& other = contents_[s].manifest.schema;
        const auto shown = [](const Variable& variable) {
            return std::tie(variable.name, variable.type, variable.kind, variable.shape, variable.table);
        };
        for (std::size_t v = 0; v < std::max(schema_.variables.size(), other.variables.size()); ++v) {
            if (v < schema_.variables.size() && v < other.variables.size() &&
                shown(schema_.variables[v]) == shown(other.variables[v]))
                continue;
            const auto& of = v < schema_.variables.size() ? schema_ : other;
            return Error{ErrorKind::refused,
                         fmt::format("steps {} and {} of stream '{}' do not fit into one netCDF file: '{}' is a "
                                     "different variable in each",
                                     contents_.front().manifest.step, contents_[s].manifest.step, schema_.stream,
                                     of.variables[v].name),
                         "the snapshots", "use forebay view --as netcdf for each step, or --as openpmd --series"};
        }
        return {};
    }

    /// netCDF up to 4.9 shows variables of a compound type only after it has met the type's name.
    void name_complex_types() {
        for (const auto type : {c64, c128}) {
            if (std::ranges::none_of(schema_.variables, [&](const auto& variable) { return variable.type == type; }))
                continue;
            auto name = fmt::format("complex{}", 8 * type.size_bytes);
            while (taken_.has(name)) name += "_type";
            taken_.add(name);
            outline_.types.push_back({name, type});
        }
    }

    void add_time() {
        std::vector<double> times;
        std::vector<std::int64_t> steps;
        for (const auto& contents : contents_) {
            times.push_back(contents.manifest.time);
            steps.push_back(contents.manifest.step);
        }
        std::string units;
        for (const auto& [key, value] : contents_.front().attributes)
            if (const auto* text = std::get_if<std::string>(&value); text != nullptr && key == "timeUnits")
                units = *text;
        // CF's time counts from a date, and readers treat a variable named time so.
        const bool is_dated = units.find(" since ") != std::string::npos;
        std::vector<Outline::Attribute> attributes;
        set(attributes, {"long_name", std::string("time of the simulation")});
        if (!units.empty()) set(attributes, {"units", units});
        if (is_dated) set(attributes, {"standard_name", std::string("time")});
        if (is_dated) set(attributes, {"axis", std::string("T")});
        const auto name = taken_.take(is_dated ? "time" : "simulation_time");
        time_ = outline_.datasets.size();
        outline_.datasets.push_back({.path = name,
                                     .type = f64,
                                     .shape = {times.size()},
                                     .attributes = std::move(attributes),
                                     .content = held(times),
                                     .dimensions = {},
                                     .scale = name,
                                     .may_grow = true});
        add_counts("step", steps, {{"long_name", std::string("steps of the simulation")}});
    }

    /// A whole number for each step, in 32 bits if all fit: CF 1.8 and netCDF's classic formats have no more.
    void add_counts(const std::string& name, const std::vector<std::int64_t>& counts,
                    std::vector<Outline::Attribute> attributes) {
        const bool is_narrow = std::ranges::all_of(counts, std::in_range<std::int32_t, std::int64_t>);
        outline_.datasets.push_back(
            {.path = taken_.take(name),
             .type = is_narrow ? i32 : i64,
             .shape = {counts.size()},
             .attributes = std::move(attributes),
             .content = is_narrow ? held(std::vector<std::int32_t>(counts.begin(), counts.end())) : held(counts),
             .dimensions = {time_},
             .scale = {}});
    }

    /// CF has 64-bit and unsigned whole numbers since 1.9.
    void say_cf_version() {
        const auto& given = contents_.front().attributes;
        const bool is_given =
            std::ranges::any_of(given, [](const auto& attribute) { return attribute.first == "Conventions"; });
        const bool is_later = std::ranges::any_of(outline_.datasets, [](const Outline::Dataset& dataset) {
            const auto scalar = dataset.type.scalar;
            return scalar == Scalar::i64 || (scalar >= Scalar::u8 && scalar <= Scalar::u64);
        });
        if (is_later && !is_given) set(outline_.groups.front().attributes, {"Conventions", std::string("CF-1.9")});
    }

    static void narrow(std::vector<Outline::Attribute>& attributes) {
        for (auto& attribute : attributes)
            if (const auto* number = std::get_if<std::int64_t>(&attribute.value);
                number && std::in_range<std::int32_t>(*number))
                attribute.value = static_cast<std::int32_t>(*number);
    }

    /// If an array gives its grid spacing, its dimensions get coordinates: offset + index * spacing.
    Result<> find_grids() {
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
            const auto& variable = schema_.variables[v];
            if (variable.kind != Kind::array || attribute_of(variable, grid_spacing_key) == nullptr) continue;
            const auto dims = dimensions_.of[v].size();
            FB_TRY_ASSIGN(spacing, numbers_of(variable, grid_spacing_key, dims, 1));
            FB_TRY_ASSIGN(offset, numbers_of(variable, grid_offset_key, dims, 0));
            for (std::size_t dim = 0; dim < dims; ++dim) {
                auto& [path, length, coordinate, grid] = dimensions_.all[dimensions_.of[v][dim]];
                if (!grid.empty() || length * sizeof(double) > views_copied_bytes_max) continue;
                for (std::uint64_t i = 0; i < length; ++i)
                    grid.push_back(offset[dim] + static_cast<double>(i) * spacing[dim]);
            }
        }
        return {};
    }

    /// Datasets of dimensions without a coordinate variable come first, then the variables in the schema's order.
    void add_scales() {
        scales_.resize(dimensions_.all.size());
        for (std::size_t d = 0; d < dimensions_.all.size(); ++d) {
            const auto& dimension = dimensions_.all[d];
            if (dimension.coordinate) continue;
            scales_[d] = outline_.datasets.size();
            const bool is_grid = !dimension.grid.empty();
            Outline::Dataset scale{.path = dimension.path,
                                   .type = is_grid ? f64 : f32,
                                   .shape = {dimension.length},
                                   .attributes = {},
                                   .content = Outline::Nothing{},
                                   .dimensions = {},
                                   .scale = leaf_of(dimension.path)};
            if (is_grid) {
                scale.attributes.push_back({"long_name", "places along " + dimension.path});
                scale.content = held(dimension.grid);
            } else {
                // The text by which netCDF marks a dimension without a variable.
                scale.scale =
                    fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", dimension.length);
            }
            outline_.datasets.push_back(std::move(scale));
        }
        // The variables' indices are known before add_variable() adds them.
        auto next = outline_.datasets.size();
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
            if (is_coordinate(v)) scales_[dimensions_.of[v][0]] = next;
            if (!is_too_deep(v)) ++next;
        }
    }

    bool is_coordinate(std::size_t v) const {
        const auto& of = dimensions_.of[v];
        return !of.empty() && dimensions_.all[of[0]].coordinate == v;
    }

    /// Columns keep the rows of all snapshots in one dimension, and a coordinate must not depend on time.
    bool has_time(std::size_t v) const {
        return is_timed_ && schema_.variables[v].kind != Kind::particles && !is_coordinate(v);
    }
    bool is_too_deep(std::size_t v) const { return has_time(v) && schema_.variables[v].shape.dims() == dims_max; }

    void add_variable(std::size_t v) {
        const auto& variable = schema_.variables[v];
        if (is_too_deep(v)) {
            outline_.omitted.push_back({variable.name, "with time it would have more than 8 dimensions"});
            return;
        }
        Outline::Dataset dataset{.path = names_[v],
                                 .type = shown_type(variable.type),
                                 .shape = {},
                                 .attributes = attributes_of(v),
                                 .content = shows(v),
                                 .dimensions = {},
                                 .scale = {}};
        if (has_time(v)) dataset.shape.push_back(contents_.size());
        const auto shape = shown_shape(variable, table_rows_);
        for (int dim = 0; dim < shape.dims(); ++dim) dataset.shape.push_back(shape[dim]);
        if (has_time(v)) dataset.dimensions.push_back(time_);
        // A coordinate is its own scale and refers to no other scale.
        if (is_coordinate(v)) dataset.scale = leaf_of(names_[v]);
        else
            for (const auto d : dimensions_.of[v]) dataset.dimensions.push_back(scales_[d]);
        outline_.datasets.push_back(std::move(dataset));
    }

    std::vector<Outline::Shows> shows(std::size_t v) const {
        const auto& variable = schema_.variables[v];
        if (!is_timed_ || is_coordinate(v)) return {{0, v, {}}};
        std::vector<Outline::Shows> all;
        std::uint64_t row = 0;
        for (std::size_t s = 0; s < contents_.size(); ++s) {
            if (variable.kind == Kind::particles) {
                all.push_back({s, v, {row}});
                row += contents_[s].table_rows[variable.table];
                continue;
            }
            Extents first{s};
            for (int dim = 0; dim < variable.shape.dims(); ++dim) first.push_back(0);
            all.push_back({s, v, first});
        }
        return all;
    }

    std::vector<Outline::Attribute> attributes_of(std::size_t v) const {
        const auto& variable = schema_.variables[v];
        auto attributes = shown_attributes(variable);
        if (is_timed_) {
            std::erase_if(attributes, [](const auto& attribute) { return is_physics_key(attribute.name); });
            // CF requires one of the two.
            if (std::ranges::none_of(attributes, [](const auto& attribute) {
                    return attribute.name == "long_name" || attribute.name == "standard_name";
                }))
                attributes.push_back({"long_name", variable.name});
        }
        if (names_[v] != variable.name) set(attributes, {"forebay_name", variable.name});
        if (variable.type.scalar == Scalar::f16) set(attributes, {"forebay_type", std::string("f16")});
        if (contents_.front().values[v].empty())
            set(attributes, {"forebay_fill", fill_text(shown_type(variable.type))});
        return attributes;
    }

    /// The number of a table's rows in each snapshot: CF's contiguous ragged array.
    void add_row_sizes(std::uint32_t table) {
        const auto column = std::ranges::find_if(schema_.variables, [&](const Variable& variable) {
            return variable.kind == Kind::particles && variable.table == table;
        });
        if (column == schema_.variables.end()) return;
        std::vector<std::int64_t> sizes;
        for (const auto& contents : contents_) sizes.push_back(static_cast<std::int64_t>(contents.table_rows[table]));
        const auto rows = dimensions_.of[static_cast<std::size_t>(column - schema_.variables.begin())].front();
        const auto& name = schema_.tables[table];
        add_counts(word_of(name) + "_row_size", sizes,
                   {{"long_name", "rows of each step in " + name}, {"sample_dimension", dimensions_.all[rows].path}});
    }

    std::span<const Contents> contents_;
    const Schema& schema_;
    std::vector<std::uint64_t> table_rows_;  // over all snapshots
    Dimensions dimensions_;
    std::vector<std::string> names_;   // of variables in the file
    TakenNames taken_;                 // in the root group, and of dimensions in any group
    std::vector<std::size_t> scales_;  // dimension -> its dataset in the outline
    bool is_timed_ = false;
    std::size_t time_ = 0;  // the time's dataset
    Outline outline_;
};

}  // namespace

Result<Outline> plain_outline(std::span<const Contents> contents) {
    if (contents.size() != 1)
        return Error{ErrorKind::refused,
                     fmt::format("a plain view shows one snapshot, and stream '{}' has {}",
                                 contents.front().manifest.schema.stream, contents.size()),
                     "", "use --as netcdf, openpmd or h5part, which can show several steps"};
    return NamedOutline(contents).plain();
}

Result<Outline> netcdf_outline(std::span<const Contents> contents) { return NamedOutline(contents).netcdf(); }

}  // namespace forebay::outline
