// Surface data of PALM's MPI-IO file: each column of the grid has some surfaces with one value each. Two planes of
// 64-bit integers come before such arrays and hold the first and the last element of each column.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "insight/foreign/palm_mpi/palm_mpi.hpp"

namespace forebay::foreign {

/// The distribution of an array's elements over the columns: x outer, y inner, from 1 to `elements` without gaps.
struct SurfaceIndex {
    std::string start, end;  // names of the two planes
    std::uint64_t elements = 0;
    std::uint64_t counts = 0;  // mixed sum over columns and their numbers of elements; equal for equal counts
};

/// Nothing unless the planes tile a range of elements exactly. Both are stored as (y, x). Reads them through two rows
/// and keeps two.
Result<std::optional<SurfaceIndex>> read_surface_index(sys::File& file, const PalmMpiHeader& header, const Range& start,
                                                       const Range& end);

/// The number of runs of `index` in `place`; 2-D surface data have several. In each run every column begins with the
/// number of its elements, itself included. 0 if it is not surface data.
Result<std::uint64_t> count_surface_runs(sys::File& file, const PalmMpiHeader& header, const SurfaceIndex& index,
                                         const Range& place);

}  // namespace forebay::foreign
