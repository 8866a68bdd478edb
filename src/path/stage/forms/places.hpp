// The places of a stream's node files in files that several nodes share. The first ranks of these nodes plan them from
// numbers that they send each other. The record of each node file passes the plan to its agent. Each form has a file:
// combined.cpp, shared.cpp. A stream with one file for each node has no such object.
//
// Ranks: only the node's first rank has one. Life: describe, once for each description -> { must_plan -> plan, if any
// node must plan -> place }, in each save.

#pragma once

#include <cstdint>
#include <memory>

#include "core/comm/group.hpp"
#include "core/format/form.hpp"
#include "forebay/options.hpp"
#include "path/stage/slot.hpp"

namespace forebay::stage {

class FilePlaces {
public:
    virtual ~FilePlaces() = default;

    /// The description changed: makes room, so that place() allocates nothing. Local.
    virtual void describe(const Schema& schema) = 0;
    /// True if this node's part changed. Then all nodes must plan() again. Local.
    virtual bool must_plan(const format::Layout&) { return false; }
    /// Call it on all nodes after any must_plan() was true. Collective over the first ranks of all nodes.
    virtual void plan(const Schema&) {}
    /// Places the node file in `slot`. It cannot fail, because all ranks have agreed to save. For a combined file
    /// collective over the first ranks of its nodes, else local.
    virtual void place(Slot& slot) = 0;

    /// The form of the last place().
    const format::Form& form() const { return form_; }

protected:
    format::Form form_;
};

/// `block_bytes` is the size of the agent's writes: large regions and variables begin at multiples of it.
/// combined_places() is collective over the first ranks of all nodes. `topology` must outlive the objects.
std::unique_ptr<FilePlaces> combined_places(const comm::Topology& topology, int nodes_per_file,
                                            std::uint64_t block_bytes);
std::unique_ptr<FilePlaces> shared_places(const comm::Topology& topology, bool as_h5part, std::uint64_t block_bytes);

}  // namespace forebay::stage
