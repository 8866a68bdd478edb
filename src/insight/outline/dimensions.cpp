#include "insight/outline/dimensions.hpp"
#include "core/base/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

std::string joined(const std::string& group, const std::string& name) {
    return group.empty() ? name : group + "/" + name;
}

/// True if a name in one group is visible from the other: the groups are equal, or one is inside the other.
bool in_sight(const std::string& a, const std::string& b) {
    const auto& outer = a.size() < b.size() ? a : b;
    const auto& inner = a.size() < b.size() ? b : a;
    return outer.empty() || inner == outer || inner.starts_with(outer + "/");
}

class Planner {
public:
    Planner(const Schema& schema, std::span<const std::uint64_t> table_rows)
        : schema_(schema), table_rows_(table_rows) {
        plan_.of.resize(schema.variables.size());
        for (const auto& variable : schema.variables)
            for (auto path = variable.name; !path.empty(); path = parent_of(path)) taken_.insert(path);
    }

    Dimensions plan() {
        // Coordinates first, so that they get their names in any order of variables.
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) place_coordinate(v);
        for (std::size_t v = 0; v < schema_.variables.size(); ++v) place_all(v);
        return std::move(plan_);
    }

private:
    void place_coordinate(std::size_t v) {
        const auto& variable = schema_.variables[v];
        const auto& names = variable.attributes.dimensions;
        if (variable.kind == Kind::particles || names.size() != 1 || names[0] != leaf_of(variable.name)) return;
        // xarray makes an index of a coordinate, and complex numbers cannot be one.
        if (variable.type.scalar == Scalar::c64 || variable.type.scalar == Scalar::c128) return;
        const auto group = parent_of(variable.name);
        if (another_length(group, names[0], variable.shape[0])) return;
        plan_.of[v] = {add(group, names[0], variable.shape[0], v)};
    }

    void place_all(std::size_t v) {
        if (!plan_.of[v].empty()) return;
        const auto& variable = schema_.variables[v];
        const auto shape = shown_shape(variable, table_rows_);
        const bool is_column = variable.kind == Kind::particles;
        const auto& names = variable.attributes.dimensions;
        const auto group = is_column ? schema_.tables[variable.table] : parent_of(variable.name);
        for (int dim = 0; dim < shape.dims(); ++dim) {
            const auto wanted = is_column       ? leaf_of(group)
                                : names.empty() ? fmt::format("dim{}_{}", dim, shape[dim])
                                                : names[static_cast<std::size_t>(dim)];
            plan_.of[v].push_back(place(group, wanted, shape[dim], plan_.of[v]));
        }
    }

    /// The dimension of this name, or of the next free name.
    std::size_t place(const std::string& group, const std::string& wanted, std::uint64_t length,
                      const std::vector<std::size_t>& used) {
        for (std::uint64_t attempt = 0;; ++attempt) {
            const auto name = attempt == 0   ? wanted
                              : attempt == 1 ? fmt::format("{}_{}", wanted, length)
                                             : fmt::format("{}_{}_{}", wanted, length, attempt);
            const auto path = joined(group, name);
            const auto known = by_path_.find(path);
            if (known != by_path_.end()) {
                if (plan_.all[known->second].length == length && std::ranges::find(used, known->second) == used.end())
                    return known->second;
                continue;
            }
            if (!taken_.contains(path) && !another_length(group, name, length)) return add(group, name, length, {});
        }
    }

    bool another_length(const std::string& group, const std::string& name, std::uint64_t length) const {
        const auto [first, last] = by_name_.equal_range(name);
        return std::any_of(first, last, [&](const auto& entry) {
            const auto& other = plan_.all[entry.second];
            return other.length != length && in_sight(parent_of(other.path), group);
        });
    }

    std::size_t add(const std::string& group, const std::string& name, std::uint64_t length,
                    std::optional<std::size_t> coordinate) {
        const auto index = plan_.all.size();
        plan_.all.push_back({joined(group, name), length, coordinate, {}});
        by_path_.emplace(plan_.all.back().path, index);
        by_name_.emplace(name, index);
        return index;
    }

    const Schema& schema_;
    std::span<const std::uint64_t> table_rows_;
    Dimensions plan_;
    std::set<std::string> taken_;  // paths of variables and groups
    std::map<std::string, std::size_t> by_path_;
    std::multimap<std::string, std::size_t> by_name_;
};

}  // namespace

Extents shown_shape(const Variable& variable, std::span<const std::uint64_t> table_rows) {
    return variable.kind == Kind::particles ? Extents{table_rows[variable.table]} : variable.shape;
}

Dimensions plan_dimensions(const Schema& schema, std::span<const std::uint64_t> table_rows) {
    return Planner(schema, table_rows).plan();
}

}  // namespace forebay::outline
