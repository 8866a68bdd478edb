// The places of a stream's node files in the files that several nodes share. The first ranks of these nodes plan them,
// from numbers that they send each other, and the record of each node file tells its agent. Each form has a file:
// combined.cpp, shared.cpp. A stream whose nodes have files of their own has no such object.
//
// Ranks: an object is of the node's first rank. Life: describe, once a description -> { must_plan -> plan, if it must
// be on any node -> place }, once a save.

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

    /// The description has changed: makes room, so that place() takes no memory. Local.
    virtual void describe(const Schema& schema) = 0;
    /// Whether this node's part has changed, so that all nodes must plan() anew. Local.
    virtual bool must_plan(const format::Layout&) { return false; }
    /// After must_plan() on every node. Collective over the first ranks of all nodes.
    virtual void plan(const Schema&) {}
    /// Places the node file in `slot`. Cannot fail, since all ranks have agreed to save by then. Collective over the
    /// first ranks of the nodes of one combined file, else local.
    virtual void place(Slot& slot) = 0;

    /// As the last place() has left it.
    const format::Form& form() const { return form_; }

protected:
    format::Form form_;
};

/// `block_bytes` are those of the agent's writes: large regions and variables begin at multiples of them. The first is
/// collective over the first ranks of all nodes. `topology` must outlive them.
std::unique_ptr<FilePlaces> combined_places(const comm::Topology& topology, int nodes_per_file,
                                            std::uint64_t block_bytes);
std::unique_ptr<FilePlaces> shared_places(const comm::Topology& topology, bool as_h5part, std::uint64_t block_bytes);

}  // namespace forebay::stage
