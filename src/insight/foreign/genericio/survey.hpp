// Examines a snapshot before a GenericIO export: the elements of each rank, and, for an imported snapshot, the ranks'
// coordinates and partitions.
//
// Threads: one. It opens one node file after another.

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
    std::vector<std::int32_t> partitions;  // by rank, as they chose; empty: none chosen
    // The header of the imported file; zeros and empty for other snapshots.
    std::array<double, 3> phys_origin{}, phys_scale{};
    std::array<std::uint64_t, 3> dims{};
    std::vector<std::array<std::uint64_t, 3>> coords;  // by rank, in the grid of `dims`

    /// True if there are as many ranks as grid places, and all have coordinates.
    bool is_grid() const;
};

/// Reads the heads of all node files. `corrupt` if a rank is in no node or in two.
Result<GioSurvey> survey(sys::Store& store, const std::string& directory, const GioExportOptions& options);

/// Opens a node file of the snapshot. If it is damaged, the error names the command that examines it.
Result<catalog::BlockReader> open_node(sys::Store& store, const std::string& directory, const format::NodeLine& line);

}  // namespace forebay::foreign::genericio
