#include "views/plain_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "views/dimensions.hpp"

namespace forebay::views {

namespace {

constexpr const char* convention = "Forebay-plain-1";

// What dimension scales and netCDF mean something by; an application's attribute of that name must not be taken for it.
constexpr std::array<std::string_view, 9> reserved_attributes = {"CLASS",
                                                                 "NAME",
                                                                 "DIMENSION_LIST",
                                                                 "REFERENCE_LIST",
                                                                 "DIMENSION_LABELS",
                                                                 "_Netcdf4Dimid",
                                                                 "_Netcdf4Coordinates",
                                                                 "_NCProperties",
                                                                 "_FillValue"};

class PlainOutline {
public:
    explicit PlainOutline(const Contents& contents)
        : contents_(contents),
          schema_(contents.manifest.schema),
          dimensions_(plan_dimensions(schema_, contents.table_rows)) {}

    Outline make() {
        add_root();
        name_complex_types();
        add_scales();
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) add_variable(v);
        return std::move(outline_);
    }

private:
    void add_root() {
        const auto& manifest = contents_.manifest;
        outline_.groups.push_back({"",
                                   {{"Conventions", std::string(convention)},
                                    {"forebay_version", std::string(FOREBAY_VERSION)},
                                    {"run", contents_.run},
                                    {"stream", schema_.stream},
                                    {"step", manifest.step},
                                    {"time", manifest.time},
                                    {"snapshot_id", fmt::format("{:016x}", manifest.snapshot_id)},
                                    {"node_files", static_cast<std::int64_t>(manifest.nodes.size())}}});
    }

    /// netCDF up to 4.9 shows variables of a compound type only if it met the type's name before them.
    void name_complex_types() {
        std::set<std::string, std::less<>> taken;
        for (const auto& variable : schema_.variables) taken.insert(variable.name.substr(0, variable.name.find('/')));
        for (const auto& dimension : dimensions_.all) taken.insert(dimension.path);
        for (const auto type : {c64, c128}) {
            if (std::ranges::none_of(schema_.variables, [&](const auto& variable) { return variable.type == type; }))
                continue;
            auto name = fmt::format("complex{}", 8 * type.size_bytes);
            while (taken.contains(name)) name += "_type";
            outline_.types.push_back({name, type});
        }
    }

    /// The datasets of dimensions without a coordinate come first, then the variables in the schema's order.
    void add_scales() {
        scales_.resize(dimensions_.all.size());
        for (std::size_t d = 0; d < dimensions_.all.size(); ++d) {
            const auto& dimension = dimensions_.all[d];
            if (dimension.coordinate) continue;
            scales_[d] = outline_.datasets.size();
            outline_.datasets.push_back(
                {.path = dimension.path,
                 .type = f32,
                 .shape = {dimension.length},
                 .attributes = {},
                 .content = Outline::Nothing{},
                 .dimensions = {},
                 .scale = fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", dimension.length)});
        }
        for (std::size_t d = 0; d < dimensions_.all.size(); ++d)
            if (dimensions_.all[d].coordinate) scales_[d] = outline_.datasets.size() + *dimensions_.all[d].coordinate;
    }

    void add_variable(std::size_t v) {
        const auto& variable = schema_.variables[v];
        Outline::Dataset dataset{.path = variable.name,
                                 .type = shown_type(variable.type),
                                 .shape = shown_shape(variable, contents_.table_rows),
                                 .attributes = attributes_of(v),
                                 .content = std::vector<Outline::Shows>{{0, v, {}}},
                                 .dimensions = {},
                                 .scale = {}};
        const auto& of = dimensions_.of[v];
        // A coordinate is its own scale and refers to no other.
        if (!of.empty() && dimensions_.all[of[0]].coordinate == v)
            dataset.scale = variable.name.substr(variable.name.rfind('/') + 1);
        else
            for (const auto d : of) dataset.dimensions.push_back(scales_[d]);
        outline_.datasets.push_back(std::move(dataset));
    }

    std::vector<Outline::Attribute> attributes_of(std::size_t v) const {
        const auto& variable = schema_.variables[v];
        const auto& given = variable.attributes;
        std::vector<Outline::Attribute> attributes;
        if (!given.unit.empty()) attributes.push_back({"units", given.unit});
        if (!given.description.empty()) attributes.push_back({"long_name", given.description});
        for (const auto& [name, value] : given.others) {
            const bool is_reserved = std::ranges::find(reserved_attributes, name) != reserved_attributes.end();
            attributes.push_back({is_reserved ? "forebay_" + name : name,
                                  std::visit([](const auto& any) -> Outline::Value { return any; }, value)});
        }
        if (variable.type.scalar == Scalar::f16) attributes.push_back({"forebay_type", std::string("f16")});
        if (contents_.values[v].empty()) attributes.push_back({"forebay_fill", fill_text(shown_type(variable.type))});
        return attributes;
    }

    const Contents& contents_;
    const Schema& schema_;
    Dimensions dimensions_;
    std::vector<std::size_t> scales_;  // of each dimension, its dataset in the outline
    Outline outline_;
};

}  // namespace

Outline plain_outline(const Contents& contents) { return PlainOutline(contents).make(); }

}  // namespace forebay::views
