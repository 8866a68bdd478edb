// What the verbs say of files that no Forebay wrote, and of its own as HDF5 shows them.

#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace forebay::cli {

// foreign_hdf5.cpp, or foreign_none.cpp without HDF5. `refused` for what is not HDF5.
Result<Exit> show_hdf5_file(const std::string& path, bool json);
Result<Exit> verify_hdf5_file(const std::string& path, bool json);
/// One line: what it is, its steps, how much it holds.
Result<Exit> list_hdf5_file(const std::string& path, bool json);

}  // namespace forebay::cli
