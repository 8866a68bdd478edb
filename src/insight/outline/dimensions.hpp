// Names for the dimensions of a view, chosen so that netCDF, xarray and its DataTree accept them: each dimension of
// each variable has one, no variable has one twice, and no name stands for two lengths where both can be seen. Pure;
// knows no HDF5.

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
    std::string path;  // of its scale: the name in the group of the variables that use it, "fields/x"
    std::uint64_t length = 0;
    /// The 1-D variable that has the dimension's own name, and so is its coordinate and its scale.
    std::optional<std::size_t> coordinate;
    std::vector<double> grid;  // else its coordinates, where a convention knows them; the plan has none
};

struct Dimensions {
    std::vector<Dimension> all;
    std::vector<std::vector<std::size_t>> of;  // for each variable of the schema, its dimensions, slowest first
};

/// The shape a reader of the view sees: a column has the rows of all nodes (`table_rows`, one a table).
Extents shown_shape(const Variable& variable, std::span<const std::uint64_t> table_rows);

/// Given names are kept where they can be. Arrays without any get "dim0_64": position and length, so that arrays of one
/// shape share theirs. A table's rows are the dimension TABLE in the group TABLE. A name that is taken gets its length
/// as an ending, "x_128".
Dimensions plan_dimensions(const Schema& schema, std::span<const std::uint64_t> table_rows);

}  // namespace forebay::outline
