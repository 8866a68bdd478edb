// The memory of the described variables on this rank. The Schema is the other half of a description.

#pragma once

#include <cstdint>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::describe {

struct TableBinding {
    std::vector<std::uint32_t> variables;  // indices of the columns in the schema
    std::uint64_t rows = 0;
    std::vector<ColumnData> columns;  // one for each variable, without addresses until bound
};

/// Indexed like Schema::variables and Schema::tables.
struct Binding {
    std::vector<void*> data;                 // replicated
    std::vector<char> first_rank;            // replicated: 1 if ranks may differ and rank 0's value is stored
    std::vector<std::vector<Piece>> pieces;  // arrays, without empty boxes
    std::vector<TableBinding> tables;

    bool is_first_ranks(std::size_t variable) const {
        return variable < first_rank.size() && first_rank[variable] != 0;
    }
};

}  // namespace forebay::describe
