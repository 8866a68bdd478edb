// The two conventions that keep the variables' names, with netCDF's dimensions: plain, one snapshot in Forebay's terms,
// and netCDF, with a time dimension and CF's terms. Pure; does not use HDF5. docs/formats/view.md.

#pragma once

#include "insight/outline/conventions.hpp"

namespace forebay::outline {

Result<Outline> plain_outline(std::span<const Contents> contents);

Result<Outline> netcdf_outline(std::span<const Contents> contents);

}  // namespace forebay::outline
