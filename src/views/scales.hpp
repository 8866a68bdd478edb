// Dimension names in HDF5 and netCDF: each dimension is a dataset ("scale") that the variables refer to, and that
// refers to them. We write both ends at once, because attaching one by one, as libhdf5_hl does, rewrites the scale's
// list each time: quadratic in the variables, and 8 MB for 5000 of them.

#pragma once

#include "views/dimensions.hpp"
#include "views/hdf5.hpp"

namespace forebay::views {

/// Creates the scales of dimensions that have no coordinate variable: datasets without data, marked as netCDF does.
Result<> write_scales(h5::MemoryFile& file, const Dimensions& dimensions);

/// Ties the datasets of all variables, which exist by now, to their scales.
Result<> attach_scales(h5::MemoryFile& file, const Schema& schema, const Dimensions& dimensions);

}  // namespace forebay::views
