// Where the described variables lie in this rank's memory: the other half of a description beside the Schema.

#pragma once

#include <cstdint>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::describe {

struct TableBinding {
    std::vector<std::uint32_t> variables;  // the columns' indices in the schema
    std::uint64_t rows = 0;
    std::vector<ColumnData> columns;  // as many as variables, without addresses until bound
};

/// Indexed like Schema::variables and Schema::tables.
struct Binding {
    std::vector<void*> data;                 // replicated
    std::vector<char> first_rank;            // replicated: 1 where ranks may differ and rank 0's value is meant
    std::vector<std::vector<Piece>> pieces;  // arrays, without empty boxes
    std::vector<TableBinding> tables;

    bool is_first_ranks(std::size_t variable) const {
        return variable < first_rank.size() && first_rank[variable] != 0;
    }
};

}  // namespace forebay::describe
