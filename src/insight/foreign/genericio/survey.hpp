// The survey of a snapshot before it becomes a GenericIO file: how many elements each rank has, and the ranks'
// coordinates and partitions if the snapshot was imported with them.
//
// Threads: a survey is one thread's, and opens one node file after the other.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "insight/foreign/genericio/export.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::foreign::genericio {

struct GioSurvey {
    format::Manifest manifest;
    std::vector<GioRecord> records;        // the variables of the file
    std::vector<std::uint64_t> elements;   // by rank
    std::vector<std::int32_t> partitions;  // by rank, as they chose; empty: they did not
    // The header of the imported file; zeros and empty for other snapshots.
    std::array<double, 3> phys_origin{}, phys_scale{};
    std::array<std::uint64_t, 3> dims{};
    std::vector<std::array<std::uint64_t, 3>> coords;  // by rank, in the grid of `dims`

    /// Whether the ranks are as many as the grid has places, and all have coordinates.
    bool is_grid() const;
};

/// Reads the heads of all node files. `corrupt` where a rank is in no node or in two.
Result<GioSurvey> survey(sys::Store& store, const std::string& directory, const GioExportOptions& options);

/// Opens a node file of the snapshot. The error of a damaged one names the command that looks at it.
Result<catalog::BlockReader> open_node(sys::Store& store, const std::string& directory, const format::NodeLine& line);

}  // namespace forebay::foreign::genericio
