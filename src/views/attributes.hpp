// Attributes of an outline, written by HDF5.

#pragma once

#include <span>
#include <string>

#include "views/hdf5.hpp"
#include "views/outline.hpp"

namespace forebay::views::h5 {

/// Texts become strings of fixed length, as netCDF's own are, since tools that expect those fail on the others.
Result<> put_attribute(const Id& object, const std::string& name, const Outline::Value& value, bool terminated_texts);

Result<> put_attributes(const Id& object, std::span<const Outline::Attribute> attributes, bool terminated_texts);

}  // namespace forebay::views::h5
