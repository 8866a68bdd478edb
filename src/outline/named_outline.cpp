// NamedOutline makes both conventions from the same parts. plain() shows one snapshot: attributes of the file, datasets
// of dimensions, then a dataset for each variable. netcdf() adds the dimension of time in front, in which each snapshot
// is one place; columns have no time, their rows of all snapshots follow one another, and row_size says how many each
// has.
//
// The order of datasets matters: a variable refers to its dimensions by their index in the outline, so dimensions come
// first (add_scales), and a coordinate variable, which is its own dimension, is counted ahead.

#include "outline/named_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/path.hpp"
#include "base/try.hpp"
#include "outline/dimensions.hpp"
#include "outline/limits.hpp"
#include "outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

template <class T>
Outline::Holds held(const std::vector<T>& values) {
    Outline::Holds holds{std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(holds.bytes.data(), values.data(), holds.bytes.size());
    return holds;
}

/// The rows of each table in all snapshots: of several, one after the other.
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
          dimensions_(plan_dimensions(schema_, table_rows_)) {
        for (const auto& variable : schema_.variables) taken_.insert(variable.name.substr(0, variable.name.find('/')));
        for (const auto& dimension : dimensions_.all) taken_.insert(leaf_of(dimension.path));
    }

    Outline plain() {
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
        outline_.groups.push_back({"",
                                   {{"_NCProperties", fmt::format("version=2,forebay={}", FOREBAY_VERSION)},
                                    {"Conventions", std::string("CF-1.8")},
                                    {"forebay_convention", std::string("Forebay-netcdf-1")},
                                    {"forebay_version", std::string(FOREBAY_VERSION)},
                                    {"run", contents_.front().run},
                                    {"stream", schema_.stream}}});
        for (auto& attribute : file_attributes()) set(outline_.groups.back().attributes, std::move(attribute));
        name_complex_types();
        add_time();
        FB_TRY(find_grids());
        add_scales();
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) add_variable(v);
        for (std::uint32_t table = 0; table < schema_.tables.size(); ++table) add_row_sizes(table);
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

    /// All steps of one file have the same variables.
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
                         fmt::format("steps {} and {} of stream '{}' do not fit into one netCDF file: '{}' is not the "
                                     "same variable in both",
                                     contents_.front().manifest.step, contents_[s].manifest.step, schema_.stream,
                                     of.variables[v].name),
                         "the snapshots", "forebay view --as netcdf of each step alone, or --as openpmd --series"};
        }
        return {};
    }

    std::string free_name(std::string name) {
        while (!taken_.insert(name).second) name += '_';
        return name;
    }

    /// netCDF up to 4.9 shows variables of a compound type only if it met the type's name before them.
    void name_complex_types() {
        for (const auto type : {c64, c128}) {
            if (std::ranges::none_of(schema_.variables, [&](const auto& variable) { return variable.type == type; }))
                continue;
            auto name = fmt::format("complex{}", 8 * type.size_bytes);
            while (taken_.contains(name)) name += "_type";
            taken_.insert(name);
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
        const auto name = free_name("time");
        std::vector<Outline::Attribute> attributes{{"standard_name", std::string("time")}, {"axis", std::string("T")}};
        for (const auto& [key, value] : contents_.front().attributes)
            if (const auto* text = std::get_if<std::string>(&value); text != nullptr && key == "timeUnits")
                attributes.push_back({"units", *text});
        time_ = outline_.datasets.size();
        outline_.datasets.push_back({.path = name,
                                     .type = f64,
                                     .shape = {times.size()},
                                     .attributes = std::move(attributes),
                                     .content = held(times),
                                     .dimensions = {},
                                     .scale = name});
        outline_.datasets.push_back({.path = free_name("step"),
                                     .type = i64,
                                     .shape = {steps.size()},
                                     .attributes = {{"long_name", std::string("steps of the simulation")}},
                                     .content = held(steps),
                                     .dimensions = {time_},
                                     .scale = {}});
    }

    /// Where an array says its grid's spacing, its dimensions have coordinates: offset + index * spacing.
    Result<> find_grids() {
        grids_.resize(dimensions_.all.size());
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
            const auto& variable = schema_.variables[v];
            if (variable.kind != Kind::array || attribute_of(variable, grid_spacing_key) == nullptr) continue;
            const auto dims = dimensions_.of[v].size();
            FB_TRY_ASSIGN(spacing, numbers_of(variable, grid_spacing_key, dims, 1));
            FB_TRY_ASSIGN(offset, numbers_of(variable, grid_offset_key, dims, 0));
            for (std::size_t dim = 0; dim < dims; ++dim) {
                const auto d = dimensions_.of[v][dim];
                const auto length = dimensions_.all[d].length;
                if (!grids_[d].empty() || length * sizeof(double) > views_copied_bytes_max) continue;
                for (std::uint64_t i = 0; i < length; ++i)
                    grids_[d].push_back(offset[dim] + static_cast<double>(i) * spacing[dim]);
            }
        }
        return {};
    }

    /// The datasets of dimensions without a coordinate variable come first, then the variables in the schema's order.
    void add_scales() {
        scales_.resize(dimensions_.all.size());
        for (std::size_t d = 0; d < dimensions_.all.size(); ++d) {
            const auto& dimension = dimensions_.all[d];
            if (dimension.coordinate) continue;
            scales_[d] = outline_.datasets.size();
            const bool is_grid = d < grids_.size() && !grids_[d].empty();
            Outline::Dataset scale{.path = dimension.path,
                                   .type = is_grid ? f64 : f32,
                                   .shape = {dimension.length},
                                   .attributes = {},
                                   .content = Outline::Nothing{},
                                   .dimensions = {},
                                   .scale = leaf_of(dimension.path)};
            if (is_grid) scale.content = held(grids_[d]);
            else
                scale.scale =
                    fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", dimension.length);
            outline_.datasets.push_back(std::move(scale));
        }
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

    /// Columns have their rows of all snapshots in one dimension, and a coordinate must not depend on the time.
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
        Outline::Dataset dataset{.path = variable.name,
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
        // A coordinate is its own scale and refers to no other.
        if (is_coordinate(v)) dataset.scale = leaf_of(variable.name);
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
        if (is_timed_) std::erase_if(attributes, [](const auto& one) { return is_physics_key(one.name); });
        if (variable.type.scalar == Scalar::f16) set(attributes, {"forebay_type", std::string("f16")});
        if (contents_.front().values[v].empty())
            set(attributes, {"forebay_fill", fill_text(shown_type(variable.type))});
        return attributes;
    }

    /// How many of a table's rows each snapshot has: CF's contiguous ragged array.
    void add_row_sizes(std::uint32_t table) {
        const auto& name = schema_.tables[table];
        if (std::ranges::none_of(schema_.variables, [&](const Variable& variable) {
                return variable.kind == Kind::particles && variable.table == table;
            }))
            return;
        std::vector<std::int64_t> sizes;
        for (const auto& contents : contents_) sizes.push_back(static_cast<std::int64_t>(contents.table_rows[table]));
        auto path = name + "/row_size";
        while (std::ranges::find(schema_.variables, path, &Variable::name) != schema_.variables.end()) path += '_';
        std::string dimension;
        for (std::size_t v = 0; v < schema_.variables.size(); ++v)
            if (schema_.variables[v].kind == Kind::particles && schema_.variables[v].table == table)
                dimension = leaf_of(dimensions_.all[dimensions_.of[v][0]].path);
        outline_.datasets.push_back(
            {.path = path,
             .type = i64,
             .shape = {sizes.size()},
             .attributes = {{"long_name", "rows of each step in " + name}, {"sample_dimension", dimension}},
             .content = held(sizes),
             .dimensions = {time_},
             .scale = {}});
    }

    std::span<const Contents> contents_;
    const Schema& schema_;
    std::vector<std::uint64_t> table_rows_;  // of all snapshots
    Dimensions dimensions_;
    std::set<std::string, std::less<>> taken_;  // names in the root group, and of dimensions anywhere
    std::vector<std::size_t> scales_;           // of each dimension, its dataset in the outline
    std::vector<std::vector<double>> grids_;    // of each dimension, its coordinates, if an array says them
    bool is_timed_ = false;
    std::size_t time_ = 0;  // the dataset of the time
    Outline outline_;
};

}  // namespace

Result<Outline> plain_outline(std::span<const Contents> contents) {
    if (contents.size() != 1)
        return Error{ErrorKind::refused,
                     fmt::format("a plain view shows one snapshot, and stream '{}' has {}",
                                 contents.front().manifest.schema.stream, contents.size()),
                     "", "--as netcdf, openpmd or h5part, which have words for several"};
    return NamedOutline(contents).plain();
}

Result<Outline> netcdf_outline(std::span<const Contents> contents) { return NamedOutline(contents).netcdf(); }

}  // namespace forebay::outline
