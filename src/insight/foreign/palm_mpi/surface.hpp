// Surface data of PALM's MPI-IO file: values of the surfaces in each column of the grid, as many as the column has.
// Two planes of 64-bit integers stand before such arrays and say where each column's elements begin and end.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "insight/foreign/palm_mpi/palm_mpi.hpp"

namespace forebay::foreign {

/// How the elements of one array are spread over the columns: x outside, y inside, from 1 to `elements` without a gap.
struct SurfaceIndex {
    std::string start, end;  // the names of the two planes
    std::uint64_t elements = 0;
    std::uint64_t counts = 0;  // of all columns and their numbers of elements, mixed: equal counts have equal sums
};

/// Nothing unless the planes tile a range of elements exactly. Both lie in the file as (y, x). Reads them through two
/// rows and keeps two.
Result<std::optional<SurfaceIndex>> read_surface_index(sys::File& file, const PalmMpiHeader& header, const Range& start,
                                                       const Range& end);

/// Whether `place` holds surface data of `index`: in each run of its elements every column begins with the number of
/// its elements, itself included. The number of runs, which 2-D surface data have several of; 0 when it is none.
Result<std::uint64_t> count_surface_runs(sys::File& file, const PalmMpiHeader& header, const SurfaceIndex& index,
                                         const Range& place);

}  // namespace forebay::foreign
