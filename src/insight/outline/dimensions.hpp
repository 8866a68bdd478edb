// Names the dimensions of a view so that netCDF, xarray and its DataTree accept them. Each dimension of each variable
// has a name, no variable has a name twice, and no name stands for two lengths in sight of each other. Pure; does not
// use HDF5.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"

namespace forebay::outline {

struct Dimension {
    std::string path;  // of its scale: the name in the group of its variables, "fields/x"
    std::uint64_t length = 0;
    /// The 1-D variable named like the dimension: its coordinate and its scale.
    std::optional<std::size_t> coordinate;
    std::vector<double> grid;  // otherwise its coordinates, if a convention knows them; the plan sets none
};

struct Dimensions {
    std::vector<Dimension> all;
    std::vector<std::vector<std::size_t>> of;  // for each variable of the schema: its dimensions, slowest first
};

/// The shape for readers of the view: a column has the rows of all nodes (`table_rows`, one a table).
Extents shown_shape(const Variable& variable, std::span<const std::uint64_t> table_rows);

/// Keeps given names if possible. Arrays without names get "dim0_64", position and length, so arrays of equal shape
/// share dimensions. A table's rows are the dimension TABLE in the group TABLE. If a name is taken, its length is
/// appended: "x_128".
Dimensions plan_dimensions(const Schema& schema, std::span<const std::uint64_t> table_rows);

}  // namespace forebay::outline
