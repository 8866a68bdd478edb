#include "insight/outline/limits.hpp"
// A view: one small HDF5 file of virtual datasets that shows committed snapshots in the words of a convention. Copies
// no data but small replicated values. Users: the agent at commit, `forebay view`.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "insight/outline/conventions.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::views {

struct ViewOptions {
    Convention convention = Convention::plain;
    bool is_series = false;                               // all snapshots in one file
    std::string table;                                    // as in Wish
    std::string description;                              // a file to use instead of the stream's own describe.toml
    outline::Missing missing = outline::Missing::refuse;  // node files that are not there
    std::string to;        // the file to make; "": beside the snapshots, by catalog::view_name()
    bool replace = false;  // a file of this name that is no view
};

struct View {
    std::string path;  // RUN/STREAM/step-000120.h5
    std::uint64_t mappings = 0;
    std::uint32_t sources = 0;                       // files
    std::vector<std::string> missing;                // of them, those that are not there
    std::vector<outline::Outline::Omitted> omitted;  // what the convention cannot show
};

/// Gathers snapshots of one stream and says of them what the description says. In any order; comes back by rising step.
Result<std::vector<outline::Contents>> gather_all(sys::Store& store, std::span<const catalog::Snapshot> snapshots,
                                                  const ViewOptions& options);

/// Makes, or replaces atomically, the view of one snapshot, or of a series. Reads heads of node files only.
/// `unsupported` for more files than a reader can hold open (outline::views_sources_max), `refused` where something
/// stands that is no view and may not be replaced, and for `to` in a snapshot's directory or at the description.
Result<View> make_view(sys::Store& store, std::span<const catalog::Snapshot> snapshots, const ViewOptions& options);

}  // namespace forebay::views
