// The openPMD convention, version 1.1.0: arrays are mesh records, tables are particle species. Pure; knows no HDF5.
// docs/formats/view.md.

#pragma once

#include "insight/outline/conventions.hpp"

namespace forebay::outline {

Result<Outline> openpmd_outline(std::span<const Contents> contents, const Wish& wish);

/// "step-%06T.openpmd.h5" of "step-000120.openpmd.h5": what openPMD's programs find all files of a set by. "" for a
/// name without the step's number, whose file stands alone.
std::string iteration_format(const std::string& file_name, std::int64_t step);

}  // namespace forebay::outline
