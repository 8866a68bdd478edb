// Dimension names in HDF5 and netCDF: each dimension is a dataset ("scale") that the variables refer to, and that
// refers to them. We write both ends at once, because attaching one by one, as libhdf5_hl does, rewrites the scale's
// list each time: quadratic in the variables, and 8 MB for 5000 of them.

#pragma once

#include "insight/h5/hdf5.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// Says of a dataset that it is a scale, and which; before its other attributes.
Result<> mark_scale(const h5::Id& scale, const outline::Outline::Dataset& dataset);

/// Ties all datasets, which exist by now, to their scales.
Result<> attach_scales(const h5::Hdf5File& file, const outline::Outline& outline);

}  // namespace forebay::views
