// Writes an outline as a view: a small HDF5 file with virtual datasets that list places in node files.

#pragma once

#include <span>
#include <string>

#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// Returns the bytes of the file with the mark of a view; equal outlines and contents give equal bytes. `prefix` leads
/// from the view's directory to the stream's: "" beside the snapshots, else with a final slash. With `needs_nodes` the
/// root group has an external link, forebay_schema, into the first node file. If node files are missing, HDF5 reads
/// fill values, but netCDF-C and h5netcdf follow the link and refuse to open the view.
Result<std::string> write_virtual(const outline::Outline& outline, std::span<const outline::Contents> contents,
                                  const std::string& prefix = {}, bool needs_nodes = false);

}  // namespace forebay::views
