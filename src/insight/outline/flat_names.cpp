#include "insight/outline/flat_names.hpp"

#include <map>
#include <tuple>

#include "core/base/path.hpp"
#include "insight/outline/physics_attributes.hpp"

namespace forebay::outline {

namespace {

/// Merges equal dimensions of arrays in several groups.
void share(const Schema& schema, Dimensions& dimensions) {
    std::set<std::size_t> rows;
    for (std::size_t v = 0; v < schema.variables.size(); ++v)
        if (schema.variables[v].kind == Kind::particles) rows.insert(dimensions.of[v].front());
    std::vector<Dimension> kept;
    std::vector<std::size_t> places;  // of each dimension among the kept dimensions
    std::map<std::tuple<std::string, std::uint64_t, std::vector<double>>, std::size_t> shared;
    for (std::size_t d = 0; d < dimensions.all.size(); ++d) {
        auto& dimension = dimensions.all[d];
        auto place = kept.size();
        if (!dimension.coordinate && !rows.contains(d))
            place =
                shared.try_emplace({leaf_of(dimension.path), dimension.length, dimension.grid}, place).first->second;
        if (place == kept.size()) kept.push_back(std::move(dimension));
        places.push_back(place);
    }
    dimensions.all = std::move(kept);
    for (auto& of : dimensions.of)
        for (auto& d : of) d = places[d];
}

}  // namespace

std::string TakenNames::take(std::string name) {
    while (!names_.insert(name).second) name += '_';
    return name;
}

std::vector<std::string> flatten(const Schema& schema, Dimensions& dimensions, TakenNames& taken) {
    share(schema, dimensions);
    std::vector<std::string> names(schema.variables.size());
    std::map<std::string, int> wanted;
    std::set<std::size_t> coordinates;
    for (const auto& dimension : dimensions.all) {
        ++wanted[word_of(leaf_of(dimension.path))];
        if (dimension.coordinate) coordinates.insert(*dimension.coordinate);
    }
    for (std::size_t v = 0; v < names.size(); ++v)
        // Coordinates get the names of their dimensions below.
        if (!coordinates.contains(v)) names[v] = taken.take(word_of(schema.variables[v].name));
    for (auto& dimension : dimensions.all) {
        const auto leaf = word_of(leaf_of(dimension.path));
        const bool is_alone = wanted[leaf] == 1 && !taken.has(leaf);
        dimension.path = taken.take(is_alone ? leaf : word_of(dimension.path));
        if (dimension.coordinate) names[*dimension.coordinate] = dimension.path;
    }
    return names;
}

}  // namespace forebay::outline
