// The plain view: one small HDF5 file of virtual datasets that shows a committed snapshot as global arrays, one table
// group per particle table, and replicated values; dimension names as scales. Copies no data. Users: the agent at
// commit, `forebay view`. The only libhdf5 code beside export.

#pragma once

#include <string>

#include "catalog/catalog.hpp"

namespace forebay::views {

struct PlainView {
    std::string path;  // RUN/STREAM/step-000120.h5
    std::uint64_t mappings = 0;
    std::uint32_t sources = 0;  // files
};

/// Makes (or replaces, atomically) the view of a snapshot, beside its directory. Reads heads of node files only.
/// `unsupported` for more files than a reader can hold open (views_sources_max).
Result<PlainView> make_plain_view(sys::Store& store, const catalog::Snapshot& snapshot);

}  // namespace forebay::views
