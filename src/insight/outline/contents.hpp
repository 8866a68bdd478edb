// The contents of a view of a snapshot, gathered from the manifest and the heads of its node files before any call of
// HDF5. Does not use HDF5.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "insight/outline/mappings.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::outline {

/// A mapping and its node file.
struct Placed {
    std::uint32_t source = 0;           // index into Contents::sources
    std::uint64_t source_elements = 0;  // in the node file's whole dataset
    SourceMapping mapping;
};

struct Contents {
    format::Manifest manifest;
    std::string run;                             // its name, without path
    std::vector<std::string> sources;            // "step-000120/node-00003.h5", one a node, as readers resolve it
    std::vector<std::string> groups;             // group in that file: "", or "node-00003/" in a combined file
    std::uint32_t files = 0;                     // different sources
    std::vector<std::uint64_t> table_rows;       // over all nodes, one a table
    std::vector<std::vector<Placed>> mappings;   // one list a variable
    std::vector<std::vector<std::byte>> values;  // one a variable: the copied replicated value, else empty
    std::uint64_t mapping_count = 0;
    /// The datasets of a shared file, one a variable with its shape. That file is the source of all nodes.
    std::vector<std::string> datasets;
    std::vector<std::string> missing;  // "step-000120/node-00003.h5"; only with Missing::leave_out
    /// File attributes from a description (description.hpp): "author", "timeUnitSI".
    std::vector<std::pair<std::string, AttributeValue>> attributes;
};

/// The treatment of missing node files.
enum class Missing {
    refuse,
    leave_out,  // their part has no mappings, so it reads as fill values
};

/// Reads the head of each node file once, several at a time, and checks that it is the committed file. `missing` or
/// `corrupt` if not; `unsupported` for more sources or mappings than a reader can handle.
Result<Contents> gather(sys::Store& store, const catalog::Snapshot& snapshot, Missing missing = Missing::refuse);

/// The same for a copy of everything, which opens a few node files at a time. No file may be missing. Sources and
/// mappings are not limited. Errors describe only the snapshot.
Result<Contents> gather_to_copy(sys::Store& store, const catalog::Snapshot& snapshot);

}  // namespace forebay::outline
