// The rules of H5Part, openPMD 1.1 and netCDF-4 whose violation makes a reader fail or misread.

#pragma once

#include <string>
#include <vector>

#include "insight/foreign/hdf5/file.hpp"
#include "insight/h5/hdf5.hpp"

namespace forebay::foreign {

/// Returns a sentence for each broken rule.
Result<std::vector<std::string>> broken_rules(const h5::Id& file, const ForeignFile& foreign_file);

}  // namespace forebay::foreign
