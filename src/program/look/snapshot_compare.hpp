// Compares two snapshots by variables: global arrays, tables row by row, and replicated values. Ranks, node files,
// forms and compression do not matter.
//
// Memory: segments of both snapshots, at most 128 MiB, and a line for each block of the present variable.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "path/catalog/catalog.hpp"
#include "program/look/value_difference.hpp"

namespace forebay::cli {

struct VariableDifference {
    std::string name;
    Kind kind = Kind::replicated;
    std::string first, second;       // its type, kind and shape; empty if the snapshot lacks it
    bool is_comparable = false;      // both have it, with equal type, kind and shape
    std::uint64_t compared = 0;      // elements; for a table rows
    std::uint64_t first_alone = 0;   // elements only in the first snapshot: more rows, or no hole there
    std::uint64_t second_alone = 0;  // elements only in the second snapshot
    ValueDifference values;
    Extents at;  // place of the largest difference, else of the first; empty for a scalar

    bool is_equal() const { return is_comparable && values.elements == 0 && first_alone == 0 && second_alone == 0; }
};

struct ComparedSnapshots {
    std::vector<VariableDifference> variables;  // in the order of the first snapshot, then variables only in the second
    std::uint64_t bytes = 0;                    // read from the first snapshot
};

/// Verifies every byte before comparing it. Errors are as from catalog::load_manifest() and BlockReader; `corrupt`
/// describes the damage.
Result<ComparedSnapshots> compare_snapshots(sys::Store& store, const catalog::Snapshot& first,
                                            const catalog::Snapshot& second,
                                            const std::function<void(std::uint64_t, std::uint64_t)>& watch);

}  // namespace forebay::cli
