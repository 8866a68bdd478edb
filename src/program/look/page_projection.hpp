// Projections of a committed snapshot for the live page, by the operators of in-situ analyses.

#pragma once

#include <string>

#include "path/catalog/catalog.hpp"
#include "program/look/page_parameters.hpp"

namespace forebay::cli {

/// Two columns of one table.
struct ColumnPair {
    std::string x, y;
};
/// The number of particles in each cell of the plane of two columns, as PNG. Returns `refused` if it would read more
/// than two gigabytes, or if the names are not two columns of one table.
Result<std::string> project_particles(sys::Store& store, const catalog::Snapshot& snapshot,
                                      const format::Manifest& manifest, const ColumnPair& columns,
                                      const PlaneStyle& style);

struct ArrayAxis {
    std::string variable;
    int axis = 0;
};
/// The sum of an array along a dimension, as PNG; `refused` as above.
Result<std::string> project_array(sys::Store& store, const catalog::Snapshot& snapshot,
                                  const format::Manifest& manifest, const ArrayAxis& which, const PlaneStyle& style);

}  // namespace forebay::cli
