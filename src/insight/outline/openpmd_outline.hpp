// The openPMD convention, version 1.1.0: arrays are mesh records, tables are particle species. Pure; does not use HDF5.
// docs/formats/view.md.

#pragma once

#include "insight/outline/conventions.hpp"

namespace forebay::outline {

Result<Outline> openpmd_outline(std::span<const Contents> contents, const Wish& wish);

/// "step-%06T.openpmd.h5" for "step-000120.openpmd.h5": openPMD's programs use it to find all files of a set. "" if the
/// name does not contain the step; that file stands alone.
std::string iteration_format(const std::string& file_name, std::int64_t step);

}  // namespace forebay::outline
