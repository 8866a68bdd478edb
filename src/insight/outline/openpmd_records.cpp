#include "insight/outline/openpmd_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

bool is_axis(std::string_view name) {
    constexpr std::array<std::string_view, 5> axes = {"x", "y", "z", "r", "t"};
    return std::ranges::find(axes, name) != axes.end();
}

/// Collects components and refuses two variables for the same component.
class Records {
public:
    explicit Records(const Schema& schema) : schema_(schema) {}

    Result<> add(const std::string& name, const std::string& component, std::size_t v) {
        auto record = std::ranges::find(all_, name, &OpenPmdRecord::name);
        if (record == all_.end()) record = all_.insert(all_.end(), {name, {}});
        for (const auto& other : record->components)
            if (other.name == component || other.name.empty() || component.empty())
                return Error{
                    ErrorKind::refused,
                    fmt::format("'{}' and '{}' would both be the openPMD record {}{}{}",
                                schema_.variables[other.variable].name, schema_.variables[v].name, name,
                                component.empty() ? "" : "/", component),
                    "the snapshot",
                    "set the attribute openPMD = \"RECORD/COMPONENT\" for each in a file for forebay view --describe"};
        record->components.push_back({component, v});
        return {};
    }

    /// Uses the attribute "openPMD", if there is one.
    Result<bool> add_given(std::size_t v) {
        const auto& variable = schema_.variables[v];
        FB_TRY_ASSIGN(given, text_attribute(variable, record_key));
        if (given.empty()) return false;
        const auto slash = given.find('/');
        const auto name = given.substr(0, slash);
        const auto component = slash == std::string::npos ? "" : given.substr(slash + 1);
        if (name.empty() || word_of(name) != name || word_of(component) != component ||
            (slash != std::string::npos && component.empty()))
            return Error{ErrorKind::refused,
                         fmt::format("attribute openPMD of '{}' is \"{}\", and must be \"RECORD\" or "
                                     "\"RECORD/COMPONENT\", of letters, digits and '_'",
                                     variable.name, given),
                         "the snapshot", "correct it in a file for forebay view --describe"};
        FB_TRY(add(name, component, v));
        return true;
    }

    std::vector<OpenPmdRecord> take() { return std::move(all_); }

private:
    const Schema& schema_;
    std::vector<OpenPmdRecord> all_;
};

bool is_coordinate(const Variable& variable) {
    return variable.attributes.dimensions.size() == 1 && variable.attributes.dimensions[0] == leaf_of(variable.name);
}

/// Arrays of equal shape with axis names, in their own group, are the components of a vector.
bool is_component(const Schema& schema, std::size_t v) {
    const auto& variable = schema.variables[v];
    const auto candidate = [&](const Variable& other) {
        return other.kind == Kind::array && is_axis(leaf_of(other.name)) && !parent_of(other.name).empty() &&
               parent_of(other.name) == parent_of(variable.name) && other.shape == variable.shape &&
               !is_coordinate(other);
    };
    return candidate(variable) && std::ranges::count_if(schema.variables, candidate) > 1;
}

/// "v" for "vx", if there is also a "vy"; nothing if the name is not a component of a vector.
std::optional<std::string> stem_of(const std::string& column, const std::set<std::string>& columns) {
    if (column.empty() || !is_axis(column.substr(column.size() - 1))) return std::nullopt;
    const auto stem = column.substr(0, column.size() - 1);
    if (!columns.contains(stem + "x") || !columns.contains(stem + "y")) {
        if (!stem.empty() || !columns.contains("x")) return std::nullopt;  // particles on a line have only "x"
    }
    const auto last = column.back();
    return last == 'x' || last == 'y' || last == 'z' ? std::optional(stem) : std::nullopt;
}

std::string vector_name(std::string stem) {
    while (!stem.empty() && (stem.back() == '_' || stem.back() == '/')) stem.pop_back();
    if (stem.empty()) return "position";
    if (stem == "v") return "velocity";
    if (stem == "p") return "momentum";
    return word_of(stem);
}

}  // namespace

Result<std::vector<OpenPmdRecord>> mesh_records(const Schema& schema) {
    Records records(schema);
    std::map<std::string, std::set<std::string>> paths_of;  // short name -> the paths that want it
    const auto path_of = [&](std::size_t v) {
        const auto& name = schema.variables[v].name;
        return is_component(schema, v) ? parent_of(name) : name;
    };
    for (std::size_t v = 0; v < schema.variables.size(); ++v)
        if (schema.variables[v].kind == Kind::array) paths_of[word_of(leaf_of(path_of(v)))].insert(path_of(v));
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        if (schema.variables[v].kind != Kind::array || schema.variables[v].type.scalar == Scalar::string) continue;
        FB_TRY_ASSIGN(given, records.add_given(v));
        if (given) continue;
        const auto path = path_of(v);
        const auto leaf = word_of(leaf_of(path));
        // The short name, unless several paths want it.
        FB_TRY(records.add(paths_of[leaf].size() > 1 ? word_of(path) : leaf,
                           is_component(schema, v) ? leaf_of(schema.variables[v].name) : "", v));
    }
    return records.take();
}

Result<std::vector<OpenPmdRecord>> particle_records(const Schema& schema, std::uint32_t table) {
    Records records(schema);
    std::set<std::string> columns;
    const auto column_of = [&](const Variable& variable) {
        return variable.name.substr(schema.tables[table].size() + 1);
    };
    const auto is_shown = [&](const Variable& variable) {
        return variable.kind == Kind::particles && variable.table == table && variable.type.scalar != Scalar::string;
    };
    for (const auto& variable : schema.variables)
        if (is_shown(variable)) columns.insert(column_of(variable));
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto& variable = schema.variables[v];
        if (!is_shown(variable)) continue;
        FB_TRY_ASSIGN(given, records.add_given(v));
        if (given) continue;
        const auto column = column_of(variable);
        const auto stem = stem_of(column, columns);
        if (stem) FB_TRY(records.add(vector_name(*stem), column.substr(column.size() - 1), v));
        else FB_TRY(records.add(word_of(column), "", v));
    }
    return records.take();
}

}  // namespace forebay::outline
