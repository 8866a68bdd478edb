// One rank's handle on one slot: the node file's mapping, its layout, and where this rank's blocks lie in it.
//
// Life: lay_out, once a layout -> { change_rows -> put, by every rank -> seal, by the node's first rank } ...
// Ranks: put() may run at once in every process of the node, since no two blocks overlap.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/describe/binding.hpp"
#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/mapping.hpp"
#include "path/stage/copy.hpp"

namespace forebay::stage {

class Slot {
public:
    /// Whether the slot was laid out for description `version`.
    bool fits(std::uint64_t version) const { return version_ == version && mapping_.mapped(); }

    /// The layout part of lay_out: pure, equal in all ranks of the node. `rank` is this rank in the world.
    Result<> plan(const Schema& schema, std::span<const format::RankPart> parts, const format::LayoutOptions& options,
                  std::uint32_t rank, std::uint64_t version);
    /// By the node's first rank: reserves and maps the file and writes its head. `full` when there is no room.
    Result<> create(const std::string& path);
    /// By the others, after create().
    Result<> open(const std::string& path);
    /// Faults this rank's ranges in, so that no save pays for it.
    Result<> prefault();

    /// Moves the blocks to new row counts. `full` when plan() must come first.
    Result<> change_rows(std::span<const std::uint64_t> rows);

    /// This rank's block of a variable: `piece` counts its boxes in the order given; 0 for other kinds. Empty for a
    /// replicated variable that another rank of the node saves.
    std::span<std::byte> block(std::uint32_t variable, std::size_t piece = 0);

    /// Copies and checksums all of this rank's blocks, by the threads of `crew`, and gives how many took part. Blocks
    /// of variables marked in `direct` were written by the application and are only checksummed.
    std::uint32_t put(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew);
    std::uint64_t own_bytes() const;

    /// By the node's first rank: invalidate before the first put, patch and seal after the last.
    void invalidate() { format::invalidate(mapping_.bytes()); }
    void seal(const format::Record& record);
    /// The number of the save that it was sealed with last; 0: of an earlier session, or none.
    std::uint64_t sealed_save() const { return sealed_save_; }
    /// Before seal(): where this node's bytes of each variable lie in a shared file.
    void share(std::span<const std::uint64_t> offsets) { format::patch_shared(layout_, offsets, mapping_.bytes()); }

    const format::Layout& layout() const { return layout_; }
    bool row_counts_changed() const { return rows_changed_; }

private:
    void add_table(const describe::TableBinding& table, std::span<const char> direct);
    std::span<const format::Block> own_blocks(std::uint32_t variable) const;

    sys::Mapping mapping_;
    format::Layout layout_;
    std::uint64_t version_ = 0;
    std::uint32_t rank_ = 0;
    std::uint64_t sealed_save_ = 0;
    bool rows_changed_ = false;
    std::vector<std::pair<std::size_t, std::size_t>> own_;  // first block and number of blocks, by variable
    CopyList copies_;                                       // of the save under way
};

}  // namespace forebay::stage
