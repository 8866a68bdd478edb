// Dimension names in HDF5 and netCDF: each dimension is a dataset ("scale"); variables and scales refer to each other.
// Both ends are written at once. Attaching one by one, as libhdf5_hl does, rewrites the scale's list each time:
// quadratic in the variables, and 8 MB for 5000 of them.

#pragma once

#include "insight/h5/hdf5.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// Marks a dataset as a scale, with its name; call it before its other attributes.
Result<> mark_scale(const h5::Id& scale, const outline::Outline::Dataset& dataset);

/// Connects all datasets with their scales. All must exist by now.
Result<> attach_scales(const h5::Hdf5File& file, const outline::Outline& outline);

}  // namespace forebay::views
