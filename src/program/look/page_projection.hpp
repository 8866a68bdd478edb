// Projections for the live page, by the operators that agents run beside the simulation, of a committed snapshot.

#pragma once

#include <string>

#include "path/catalog/catalog.hpp"
#include "program/look/page_parameters.hpp"

namespace forebay::cli {

/// Two columns of one table.
struct ColumnPair {
    std::string x, y;
};
/// How many particles are in each cell of the plane of two columns, as PNG. `refused` where more than two gigabytes
/// would be read, or the names are not those of two columns of one table.
Result<std::string> project_particles(sys::Store& store, const catalog::Snapshot& snapshot,
                                      const format::Manifest& manifest, const ColumnPair& columns,
                                      const PlaneStyle& style);

struct ArrayAxis {
    std::string variable;
    int axis = 0;
};
/// The sum of an array along a dimension, as PNG; `refused` as before.
Result<std::string> project_array(sys::Store& store, const catalog::Snapshot& snapshot,
                                  const format::Manifest& manifest, const ArrayAxis& which, const PlaneStyle& style);

}  // namespace forebay::cli
