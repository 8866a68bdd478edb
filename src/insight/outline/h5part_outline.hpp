// The H5Part convention: a group for each step, a table's columns as its datasets, 3-D arrays as H5Block fields. Pure;
// does not use HDF5. docs/formats/view.md.

#pragma once

#include "insight/outline/conventions.hpp"

namespace forebay::outline {

Result<Outline> h5part_outline(std::span<const Contents> contents, const Wish& wish);

}  // namespace forebay::outline
