// Writes an outline's attributes with HDF5.

#pragma once

#include <span>
#include <string>

#include "insight/h5/hdf5.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// Texts become strings of fixed length, like netCDF's own: tools that expect these fail on variable length.
Result<> put_attribute(const h5::Id& object, const std::string& name, const outline::Outline::Value& value,
                       bool terminated_texts);

Result<> put_attributes(const h5::Id& object, std::span<const outline::Outline::Attribute> attributes,
                        bool terminated_texts);

}  // namespace forebay::views
