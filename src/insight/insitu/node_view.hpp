// One node's part of a snapshot as a script sees it: blocks of memory, verified before use. Blocks of a sealed slot
// stay where they are, in a read-only mapping. Blocks of a drained node file are read once and kept.
//
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "insight/insitu/sealed_slot.hpp"

namespace forebay::insitu {

class NodeView {
public:
    explicit NodeView(SealedSlot sealed) : source_(sealed.snapshot()), sealed_(std::move(sealed)) {}
    NodeView(SeenSnapshot source, catalog::BlockReader drained)
        : source_(std::move(source)), drained_(std::move(drained)) {}

    const SeenSnapshot& snapshot() const { return source_; }
    const catalog::BlockReader& node() const { return sealed_ ? sealed_->node() : *drained_; }
    /// A drained node file needs no lease, so this is always true for it.
    bool has_lease() const { return !sealed_ || sealed_->has_lease(); }

    /// The bytes of a block of node().head(). They live as long as this object. `corrupt` if they are not the bytes
    /// that the application saved; `retry` if a save has taken the slot.
    Result<std::span<const std::byte>> block(std::size_t block);

private:
    Result<std::span<const std::byte>> in_slot(std::size_t block);

    SeenSnapshot source_;
    std::optional<SealedSlot> sealed_;
    std::optional<catalog::BlockReader> drained_;
    std::map<std::size_t, std::span<const std::byte>> verified_;
    std::map<std::size_t, std::vector<std::byte>> kept_;
    catalog::BlockReader::Scratch scratch_;
};

}  // namespace forebay::insitu
