// What H5Part, openPMD 1.1 and netCDF-4 ask of a file, as far as a reader fails or misreads without it.

#pragma once

#include <string>
#include <vector>

#include "insight/foreign/hdf5/file.hpp"
#include "insight/h5/hdf5.hpp"

namespace forebay::foreign {

/// Sentences about what is broken; none when nothing is.
Result<std::vector<std::string>> broken_rules(const h5::Id& file, const ForeignFile& foreign_file);

}  // namespace forebay::foreign
