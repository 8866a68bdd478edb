#include "insight/outline/limits.hpp"
// A view: one small HDF5 file of virtual datasets that shows committed snapshots in a convention. Copies only small
// replicated values. Users: the agent at commit, `forebay view`.

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
    std::string description;                              // a file instead of the stream's own describe.toml
    outline::Missing missing = outline::Missing::refuse;  // missing node files
    std::string to;        // the file to make; "": beside the snapshots, by catalog::view_name()
    bool replace = false;  // replace an existing file that is not a view
};

struct View {
    std::string path;  // RUN/STREAM/step-000120.h5
    std::uint64_t mappings = 0;
    std::uint32_t sources = 0;                       // files
    std::vector<std::string> missing;                // missing files
    std::vector<outline::Outline::Omitted> omitted;  // parts that the convention cannot express
};

/// Gathers snapshots of one stream, given in any order, and applies the description. Returns them sorted by step.
Result<std::vector<outline::Contents>> gather_all(sys::Store& store, std::span<const catalog::Snapshot> snapshots,
                                                  const ViewOptions& options);

/// Makes the view of one snapshot or of a series, or replaces it atomically. Reads only heads of node files.
/// `unsupported` for more files than a reader can hold open (outline::views_sources_max). `refused` if a file exists
/// there that is not a view and may not be replaced, or if `to` is in a snapshot's directory or is the description.
Result<View> make_view(sys::Store& store, std::span<const catalog::Snapshot> snapshots, const ViewOptions& options);

}  // namespace forebay::views
