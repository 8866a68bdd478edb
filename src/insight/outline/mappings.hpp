// Which stretch of a node file's flat dataset shows up as which box of a view. Pure; knows no HDF5.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/node_file.hpp"

namespace forebay::outline {

struct SourceMapping {
    std::uint64_t first_element = 0;  // in the node file's 1-D dataset; the box follows row-major
    Box box;                          // of the view's dataset
};

/// The mappings of one array of a node file. Neighbouring blocks that make one larger box, as slabs of ranks do, are
/// one mapping. Empty blocks have none.
std::vector<SourceMapping> array_mappings(const format::NodeFile& file, std::size_t variable);

/// The mapping of one column: all rows of the node, which the view shows from `first_row` on. None for no rows.
std::vector<SourceMapping> column_mappings(const format::NodeFile& file, std::size_t variable, std::uint64_t first_row);

/// Elements in the node file's flat dataset.
std::uint64_t flat_elements(const format::NodeFile& file, std::size_t variable);

}  // namespace forebay::outline
