// The plain convention: the snapshot in Forebay's own words, with dimensions as netCDF knows them.
// docs/formats/view.md. Pure; knows no HDF5.

#pragma once

#include "views/contents.hpp"
#include "views/outline.hpp"

namespace forebay::views {

Outline plain_outline(const Contents& contents);

}  // namespace forebay::views
