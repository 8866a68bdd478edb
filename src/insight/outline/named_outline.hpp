// The two conventions that show variables under their own names, with dimensions as netCDF knows them: plain, which is
// one snapshot in Forebay's own words, and netCDF proper, with a dimension of time and the words of CF. Pure; knows no
// HDF5. docs/formats/view.md.

#pragma once

#include "insight/outline/conventions.hpp"

namespace forebay::outline {

Result<Outline> plain_outline(std::span<const Contents> contents);

Result<Outline> netcdf_outline(std::span<const Contents> contents);

}  // namespace forebay::outline
