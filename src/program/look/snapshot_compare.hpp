// Compares the data of two snapshots, variable by variable: global arrays, tables row by row, and replicated values.
// Numbers of ranks and node files, forms and compression do not matter.
//
// Memory: segments of both snapshots, at most 128 MiB, and a line for each block of the variable that is compared.

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
    std::string first, second;       // its type, kind and shape; empty where the snapshot does not have it
    bool is_comparable = false;      // both have it, alike in these
    std::uint64_t compared = 0;      // elements; of a table rows
    std::uint64_t first_alone = 0;   // elements of the first snapshot alone: more rows, or no hole there
    std::uint64_t second_alone = 0;  // elements of the second snapshot alone
    ValueDifference values;
    Extents at;  // of the largest difference, or else of the first one; empty for a scalar

    bool is_equal() const { return is_comparable && values.elements == 0 && first_alone == 0 && second_alone == 0; }
};

struct ComparedSnapshots {
    std::vector<VariableDifference> variables;  // in the order of the first snapshot, then those of the second alone
    std::uint64_t bytes = 0;                    // read of the first snapshot
};

/// Verifies every byte before it is compared. Errors as of catalog::load_manifest() and BlockReader; `corrupt` names
/// the damage.
Result<ComparedSnapshots> compare_snapshots(sys::Store& store, const catalog::Snapshot& first,
                                            const catalog::Snapshot& second,
                                            const std::function<void(std::uint64_t, std::uint64_t)>& watch);

}  // namespace forebay::cli
