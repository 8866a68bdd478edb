// Everything a view of a snapshot says, gathered from the manifest and the heads of its node files before HDF5 is
// called. Knows no HDF5.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "insight/outline/mappings.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::outline {

/// A mapping and the node file it leads to.
struct Placed {
    std::uint32_t source = 0;           // index into Contents::sources
    std::uint64_t source_elements = 0;  // of the node file's dataset, all of it
    SourceMapping mapping;
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
    /// The datasets of a shared file, one for each variable and of its shape; that file is the source of all nodes.
    std::vector<std::string> datasets;
    std::vector<std::string> missing;  // "step-000120/node-00003.h5", which are not there; only with Missing::leave_out
    /// What a description (description.hpp) says of the file as a whole: "author", "timeUnitSI".
    std::vector<std::pair<std::string, AttributeValue>> attributes;
};

/// What becomes of a snapshot of which node files are missing.
enum class Missing {
    refuse,
    leave_out,  // their part stays without mappings, and so reads as fill values
};

/// Reads the head of each node file once, several at a time, and checks that it is the one that was committed.
/// `missing` or `corrupt` when one is not; `unsupported` for more sources or mappings than a reader bears.
Result<Contents> gather(sys::Store& store, const catalog::Snapshot& snapshot, Missing missing = Missing::refuse);

/// The same for who copies all of it, and so opens a few node files at a time: none may be missing, and there is no
/// limit to sources and mappings. Errors say what is wrong with the snapshot alone.
Result<Contents> gather_to_copy(sys::Store& store, const catalog::Snapshot& snapshot);

}  // namespace forebay::outline
