// The openPMD convention: each snapshot is an iteration data/N. add_mesh() shows arrays as mesh records, add_species()
// shows tables as particle species. openpmd_records decides the record and component of each variable. Replicated
// values lie in forebay/N, outside openPMD's paths. The root group is made last and put first, because its attributes
// depend on the existence of meshes and particles. Required attributes without a given value get neutral values: unit
// 1, spacing 1, offset 0.

#include "insight/outline/openpmd_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/try.hpp"
#include "insight/outline/dimensions.hpp"
#include "insight/outline/openpmd_records.hpp"
#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

using Attributes = std::vector<Outline::Attribute>;
using Powers = std::array<double, 7>;  // length, mass, time, current, temperature, amount, luminous intensity

Powers usual_powers(const std::string& record) {
    if (record == "position") return {1, 0, 0, 0, 0, 0, 0};
    if (record == "velocity") return {1, 0, -1, 0, 0, 0, 0};
    if (record == "momentum") return {1, 1, -1, 0, 0, 0, 0};
    return {};
}

/// Without dimension names the last three are z, y and x.
std::vector<std::string> axis_labels(const Variable& variable) {
    if (!variable.attributes.dimensions.empty()) return variable.attributes.dimensions;
    const auto dims = variable.shape.dims();
    std::vector<std::string> labels;
    labels.reserve(variable.shape.dims());
    for (int dim = 0; dim < dims; ++dim)
        labels.push_back(dims - dim <= 3 ? std::string(1, "xyz"[dims - dim - 1]) : fmt::format("dim{}", dim));
    return labels;
}

/// openPMD-api 0.17 refuses files with an attribute of no elements, and an empty text in HDF5 has none.
bool is_empty_text(const Outline::Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && text->empty();
}

class OpenPmdOutline {
public:
    OpenPmdOutline(std::span<const Contents> contents, const Wish& wish) : contents_(contents), wish_(wish) {}

    Result<Outline> make() {
        FB_TRY(refuse_fixed(contents_.back().attributes, "openPMD",
                            {"openPMD", "openPMDextension", "basePath", "iterationEncoding", "iterationFormat",
                             "meshesPath", "particlesPath"}));
        for (std::size_t s = 0; s < contents_.size(); ++s) FB_TRY(add_iteration(s));
        if (!has_meshes_ && !has_particles_)
            return Error{
                ErrorKind::refused,
                fmt::format("stream '{}' has no data for openPMD, which holds arrays, and particles with positions",
                            contents_.front().manifest.schema.stream),
                "the snapshot", "forebay view --as plain"};
        add_root();
        return std::move(outline_);
    }

private:
    const Schema& schema(std::size_t s) const { return contents_[s].manifest.schema; }

    void add_root() {
        const auto& last = contents_.back();
        const auto format = wish_.is_series ? "" : iteration_format(wish_.file_name, last.manifest.step);
        Attributes attributes{{"openPMD", std::string("1.1.0")},
                              {"openPMDextension", std::uint32_t{0}},
                              {"basePath", std::string("/data/%T/")},
                              {"iterationEncoding", std::string(format.empty() ? "groupBased" : "fileBased")},
                              {"iterationFormat", format.empty() ? std::string("/data/%T/") : format},
                              {"software", std::string("Forebay")},
                              {"softwareVersion", std::string(FOREBAY_VERSION)},
                              {"date", date_text(last.manifest.sealed_unix_ns)},
                              {"forebay_run", last.run},
                              {"forebay_stream", last.manifest.schema.stream}};
        if (has_meshes_) attributes.push_back({"meshesPath", std::string("meshes/")});
        if (has_particles_) attributes.push_back({"particlesPath", std::string("particles/")});
        for (const auto& [name, value] : last.attributes)
            if (name != "timeUnitSI" && name != "dt" && name != h5part_table_key)
                set(attributes, {name, std::visit([](const auto& any) -> Outline::Value { return any; }, value)});
        std::erase_if(attributes, [](const auto& attribute) { return is_empty_text(attribute.value); });
        outline_.groups.insert(outline_.groups.begin(), {"", std::move(attributes)});
    }

    /// A number from the description of the whole file.
    double file_number(std::size_t s, const char* name, double otherwise) const {
        for (const auto& [key, value] : contents_[s].attributes) {
            if (key != name) continue;
            if (const auto* real = std::get_if<double>(&value)) return *real;
            if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
        }
        return otherwise;
    }

    /// The mean length of a step since the previous snapshot, or since the start if that snapshot is not in the file.
    double mean_step(std::size_t s) const {
        const auto& now = contents_[s].manifest;
        const auto before_time = s == 0 ? 0.0 : contents_[s - 1].manifest.time;
        const auto before_step = s == 0 ? 0 : contents_[s - 1].manifest.step;
        return now.step > before_step ? (now.time - before_time) / static_cast<double>(now.step - before_step) : 0.0;
    }

    Result<> add_iteration(std::size_t s) {
        const auto& manifest = contents_[s].manifest;
        const auto base = fmt::format("data/{}", manifest.step);
        outline_.groups.push_back({base,
                                   {{"time", manifest.time},
                                    {"dt", file_number(s, "dt", mean_step(s))},
                                    {"timeUnitSI", file_number(s, "timeUnitSI", 1)},
                                    {"forebay_snapshot_id", fmt::format("{:016x}", manifest.snapshot_id)}}});
        FB_TRY_ASSIGN(meshes, mesh_records(schema(s)));
        for (const auto& record : meshes) FB_TRY(add_mesh(s, base + "/meshes/", record));
        has_meshes_ |= !meshes.empty();
        for (std::uint32_t table = 0; table < schema(s).tables.size(); ++table) FB_TRY(add_species(s, base, table));
        for (std::size_t v = 0; v < schema(s).variables.size(); ++v) {
            const auto& variable = schema(s).variables[v];
            // openPMD has no records for these, and allows any data outside its base path.
            if (variable.kind == Kind::replicated)
                outline_.datasets.push_back({.path = fmt::format("forebay/{}/{}", manifest.step, variable.name),
                                             .type = shown_type(variable.type),
                                             .shape = variable.shape,
                                             .attributes = shown_attributes(variable),
                                             .content = std::vector<Outline::Shows>{{s, v, {}}},
                                             .dimensions = {},
                                             .scale = {}});
            else if (variable.type.scalar == Scalar::string) omit(s, variable.name, "openPMD has no records of texts");
        }
        return {};
    }

    Result<> add_mesh(std::size_t s, const std::string& base, const OpenPmdRecord& record) {
        const auto& first = schema(s).variables[record.components.front().variable];
        for (const auto& component : record.components) {
            const auto& other = schema(s).variables[component.variable];
            if (other.shape != first.shape)
                return Error{
                    ErrorKind::refused,
                    fmt::format("'{}' and '{}' would be components of the openPMD mesh {}, but have different shapes, "
                                "{} and {}",
                                first.name, other.name, record.name, show_shape(first.shape), show_shape(other.shape)),
                    "the snapshot", "set the attribute openPMD in a file for forebay view --describe"};
        }
        const auto dims = static_cast<std::size_t>(first.shape.dims());
        FB_TRY_ASSIGN(attributes, record_attributes(first, record.name));
        FB_TRY_ASSIGN(spacing, numbers_of(first, grid_spacing_key, dims, 1));
        FB_TRY_ASSIGN(offset, numbers_of(first, grid_offset_key, dims, 0));
        FB_TRY_ASSIGN(grid_unit, numbers_of(first, grid_unit_key, 1, 1));
        attributes.insert(attributes.end(), {{"geometry", std::string("cartesian")},
                                             {"dataOrder", std::string("C")},
                                             {"axisLabels", axis_labels(first)},
                                             {"gridSpacing", spacing},
                                             {"gridGlobalOffset", offset},
                                             {"gridUnitSI", grid_unit.front()}});
        return add_components(s, base + record.name, record, attributes, dims);
    }

    Result<> add_species(std::size_t s, const std::string& base, std::uint32_t table) {
        const auto& name = schema(s).tables[table];
        FB_TRY_ASSIGN(records, particle_records(schema(s), table));
        const auto position = std::ranges::find(records, "position", &OpenPmdRecord::name);
        if (position == records.end() || position->is_scalar()) {
            omit(s, "table " + name,
                 "openPMD needs positions of particles, but no columns are called x, y, z. Set an attribute openPMD = "
                 "\"position/x\" for them");
            return {};
        }
        has_particles_ = true;
        const auto path = base + "/particles/" + word_of(name) + "/";
        for (const auto& record : records) {
            FB_TRY_ASSIGN(attributes,
                          record_attributes(schema(s).variables[record.components.front().variable], record.name));
            FB_TRY(add_components(s, path + record.name, record, attributes, 0));
        }
        // The positions are complete, so the required offset is zero, stored once for all particles.
        FB_TRY_ASSIGN(attributes,
                      record_attributes(schema(s).variables[position->components.front().variable], "position"));
        outline_.groups.push_back({path + "positionOffset", std::move(attributes)});
        for (const auto& component : position->components) {
            FB_TRY_ASSIGN(unit, numbers_of(schema(s).variables[component.variable], unit_si_key, 1, 1));
            outline_.groups.push_back({path + "positionOffset/" + component.name,
                                       {{"value", 0.0},
                                        {"shape", std::vector<std::uint64_t>{contents_[s].table_rows[table]}},
                                        {"unitSI", unit.front()}}});
        }
        return {};
    }

    static Result<Attributes> record_attributes(const Variable& variable, const std::string& record) {
        const auto usual = usual_powers(record);
        std::vector<double> powers(usual.begin(), usual.end());
        if (attribute_of(variable, unit_dimension_key) != nullptr) {
            FB_TRY_ASSIGN(given, numbers_of(variable, unit_dimension_key, powers.size(), 0));
            powers = given;
        }
        return Attributes{{"unitDimension", powers}, {"timeOffset", 0.0}};
    }

    /// Adds the datasets of a record; `grid_dims` is 0 for particles. A scalar record is its own component.
    Result<> add_components(std::size_t s, const std::string& path, const OpenPmdRecord& record,
                            const Attributes& attributes, std::size_t grid_dims) {
        if (!record.is_scalar()) outline_.groups.push_back({path, attributes});
        for (const auto& component : record.components) {
            const auto& variable = schema(s).variables[component.variable];
            auto own = record.is_scalar() ? attributes : Attributes{};
            FB_TRY_ASSIGN(unit, numbers_of(variable, unit_si_key, 1, 1));
            own.push_back({"unitSI", unit.front()});
            if (grid_dims > 0) {
                FB_TRY_ASSIGN(place, numbers_of(variable, position_key, grid_dims, 0));
                own.push_back({"position", place});
            }
            for (auto& attribute : shown_attributes(variable))
                if (!is_physics_key(attribute.name) && !is_empty_text(attribute.value) &&
                    std::ranges::find(own, attribute.name, &Outline::Attribute::name) == own.end())
                    own.push_back(std::move(attribute));
            set(own, {"forebay_name", variable.name});
            // The standard requires unsigned ids.
            const bool is_id = grid_dims == 0 && record.name == "id" && variable.type == i64;
            outline_.datasets.push_back({.path = record.is_scalar() ? path : path + "/" + component.name,
                                         .type = is_id ? u64 : shown_type(variable.type),
                                         .shape = shown_shape(variable, contents_[s].table_rows),
                                         .attributes = std::move(own),
                                         .content = std::vector<Outline::Shows>{{s, component.variable, {}}},
                                         .dimensions = {},
                                         .scale = {}});
        }
        return {};
    }

    /// Only in the first iteration, for all iterations.
    void omit(std::size_t s, const std::string& what, const std::string& reason) {
        if (s == 0) outline_.omitted.push_back({what, reason});
    }

    std::span<const Contents> contents_;
    const Wish& wish_;
    Outline outline_;
    bool has_meshes_ = false, has_particles_ = false;
};

}  // namespace

std::string iteration_format(const std::string& file_name, std::int64_t step) {
    for (const auto& [digits, format] :
         {std::pair(fmt::format("{:06}", step), "%06T"), std::pair(fmt::format("{}", step), "%T")}) {
        // Digits in an ending such as ".h5" are not the step.
        const auto stem = file_name.substr(0, file_name.rfind('.'));
        const auto at = stem.rfind(digits);
        if (at == std::string::npos) continue;
        const auto after = at + digits.size();
        const auto is_digit = [&](std::size_t i) {
            return i < file_name.size() && file_name[i] >= '0' && file_name[i] <= '9';
        };
        // A longer number that contains these digits is a different number.
        if ((at > 0 && is_digit(at - 1)) || is_digit(after)) continue;
        return file_name.substr(0, at) + format + file_name.substr(after);
    }
    return "";
}

Result<Outline> openpmd_outline(std::span<const Contents> contents, const Wish& wish) {
    return OpenPmdOutline(contents, wish).make();
}

}  // namespace forebay::outline
