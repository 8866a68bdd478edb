// The verbs of `forebay`, one file each.

#pragma once

#include "cli/command_line.hpp"

namespace forebay::cli {

void add_ls(CommandLine& line);
void add_show(CommandLine& line);
void add_verify(CommandLine& line);
void add_prune(CommandLine& line);
void add_recover(CommandLine& line);
void add_view(CommandLine& line);  // view_hdf5.cpp, or view_none.cpp without HDF5

}  // namespace forebay::cli
