// One rank's handle on one slot: the mapped node file, its layout, and the places of this rank's blocks.
//
// Life: lay out, once for each layout -> { change_rows -> put, by every rank -> seal, by the node's first rank } ...
// Ranks: all processes of the node may call put() at once, because no two blocks overlap.

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
    /// True if the slot was laid out for description `version`.
    bool fits(std::uint64_t version) const { return version_ == version && mapping_.mapped(); }

    /// Computes the layout only; equal on all ranks of the node. `rank` is this rank in the world.
    Result<> plan(const Schema& schema, std::span<const format::RankPart> parts, const format::LayoutOptions& options,
                  std::uint32_t rank, std::uint64_t version);
    /// Only the node's first rank: reserves and maps the file and writes its head. `full` if there is no room.
    Result<> create(const std::string& path);
    /// The node's other ranks, after create().
    Result<> open(const std::string& path);
    /// Faults this rank's ranges in, so that no save pays for it.
    Result<> prefault();

    /// Moves the blocks to new row counts. `full` if the slot needs a new plan() first.
    Result<> change_rows(std::span<const std::uint64_t> rows);

    /// This rank's block of a variable. `piece` is the index of a box in the given order; 0 for other kinds. Empty if
    /// another rank of the node saves this replicated variable.
    std::span<std::byte> block(std::uint32_t variable, std::size_t piece = 0);

    /// Copies and checksums all of this rank's blocks, with the threads of `crew`. Returns the number of threads that
    /// took part. Blocks of variables marked in `direct` were written by the application: it only checksums them.
    std::uint32_t put(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew);
    std::uint64_t own_bytes() const;

    /// Only the node's first rank: invalidate before the first put, seal after the last.
    void invalidate() { format::invalidate(mapping_.bytes()); }
    void seal(const format::Record& record);
    /// The number of the save in the last seal; 0: by an earlier session, or never sealed.
    std::uint64_t sealed_save() const { return sealed_save_; }
    /// Before seal(), for a shared file: sets the places of this node's bytes of each variable.
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
    CopyList copies_;                                       // of the current save
};

}  // namespace forebay::stage
