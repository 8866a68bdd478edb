// Everything a view of a snapshot says, gathered from the manifest and the heads of its node files before HDF5 is
// called. Knows no HDF5.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "views/mappings.hpp"

namespace forebay::views {

/// A mapping and the node file it leads to.
struct Placed {
    std::uint32_t source = 0;           // index into Contents::sources
    std::uint64_t source_elements = 0;  // of the node file's dataset, all of it
    Mapping mapping;
};

struct Contents {
    format::Manifest manifest;
    std::string run;                             // its name, without the path to it
    std::vector<std::string> sources;            // "step-000120/node-00003.h5", as a reader resolves them; one a node
    std::vector<std::string> groups;             // of each in its file: "", "node-00003/" of a combined one
    std::uint32_t files = 0;                     // different sources
    std::vector<std::uint64_t> table_rows;       // of all nodes, one a table
    std::vector<std::vector<Placed>> mappings;   // one list a variable
    std::vector<std::vector<std::byte>> values;  // one a variable: a replicated one that is copied, else empty
    std::uint64_t mapping_count = 0;
    bool is_shared = false;  // the one source has datasets of the variables' own shapes; `groups` is empty text then
    std::vector<std::string> datasets;  // of a shared source, one a variable
};

/// Checks that every node file is the one that was committed, and reads their heads one after the other. `missing` or
/// `corrupt` when one is not; `unsupported` for more sources or mappings than a reader bears.
Result<Contents> gather(sys::Store& store, const catalog::Snapshot& snapshot);

}  // namespace forebay::views
