// Maps stretches of a node file's flat dataset to boxes of a view. Pure; does not use HDF5.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/node_file.hpp"

namespace forebay::outline {

struct SourceMapping {
    std::uint64_t first_element = 0;  // in the node file's 1-D dataset; row-major
    Box box;                          // of the view's dataset
};

/// The mappings of one array of a node file. Adjacent blocks that form a larger box, such as slabs of ranks, share a
/// mapping. Empty blocks have none.
std::vector<SourceMapping> array_mappings(const format::NodeFile& file, std::size_t variable);

/// The mapping of one column: all rows of the node, shown from `first_row` on. Empty without rows.
std::vector<SourceMapping> column_mappings(const format::NodeFile& file, std::size_t variable, std::uint64_t first_row);

/// The elements of the node file's flat dataset.
std::uint64_t flat_elements(const format::NodeFile& file, std::size_t variable);

}  // namespace forebay::outline
