// The parts that the ranks of a node have of a stream: their boxes, as they were described, and the rows of their
// tables, as each save finds them. Equal in all ranks of the node.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"
#include "core/format/layout.hpp"

namespace forebay::stage {

class NodeParts {
public:
    /// Once a description; makes room for gather_rows(). Collective over the node.
    Result<> exchange(const comm::Topology& topology, const Schema& schema, const describe::Binding& binding);
    /// Once a save. Takes no memory. Collective over the node.
    void gather_rows(comm::Group& node, const describe::Binding& binding);

    /// Of all ranks of the node, ascending: for format::plan_layout().
    std::span<const format::RankPart> parts() const { return parts_; }
    /// Table by table, of each rank: for format::change_rows().
    std::span<const std::uint64_t> rows() const { return rows_; }

private:
    std::vector<format::RankPart> parts_;
    std::vector<std::uint64_t> rows_;
    std::vector<std::uint64_t> own_rows_, all_rows_;  // what is sent, and what comes of it: rank by rank, of each table
};

}  // namespace forebay::stage
