// The parts of a stream that the ranks of a node have: their boxes from the description, and the rows of their tables
// at each save. Equal on all ranks of the node.

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
    /// Call it once for each description. Makes room for gather_rows(). Collective over the node.
    Result<> exchange(const comm::Topology& topology, const Schema& schema, const describe::Binding& binding);
    /// Call it once a save. Allocates nothing. Collective over the node.
    void gather_rows(comm::Group& node, const describe::Binding& binding);

    /// All ranks of the node, ascending: for format::plan_layout().
    std::span<const format::RankPart> parts() const { return parts_; }
    /// By table, for each table by rank: for format::change_rows().
    std::span<const std::uint64_t> rows() const { return rows_; }

private:
    std::vector<format::RankPart> parts_;
    std::vector<std::uint64_t> rows_;
    std::vector<std::uint64_t> own_rows_, all_rows_;  // sent, and received: by rank, for each rank by table
};

}  // namespace forebay::stage
