// Writes a snapshot of one node straight at the target, and commits it: the bytes go once from their source to the node
// file, through a window of some megabytes, whatever their size. No slot: nothing computes meanwhile that a copy in
// memory would set free.
//
// Order of operations: data, head with its seal, length, sync, name, sync of the directory, commit.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/format/layout.hpp"
#include "core/format/lineage.hpp"
#include "core/sys/store.hpp"
#include "path/commit/commit_batch.hpp"

namespace forebay::commit {

/// Where the bytes of the blocks come from.
class Blocks {
public:
    virtual ~Blocks() = default;
    /// Fills `to` with bytes of a block from its byte `at` on. Every block is asked for once, front to back in windows;
    /// one without bytes with an empty `to`. `block` counts in Layout::blocks. An error ends the writing.
    virtual Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) = 0;
    /// Puts the blocks into the order in which they are asked for; as they are laid out unless this does something.
    virtual void sort(std::vector<std::size_t>& blocks) const { static_cast<void>(blocks); }
};

struct Destination {
    std::string run;  // made when it does not exist
    std::string stream;
    std::int64_t step = 0;
    double time = 0;
    bool replaces = false;                        // what is committed of that step
    std::optional<format::Lineage> lineage = {};  // nothing: that of the line that the run is on
};

/// Called with bytes done and in all.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Durable when it returns. Checksums are made of the bytes as they were read. `refused` when the step is committed
/// already, also meanwhile, unless `to.replaces`; and when somebody else's save of the step is later. After an error
/// nothing of it is left but, if removing fails too, a `.part` that `forebay recover --stale` removes. The answer is
/// the snapshot's directory.
Result<std::string> write_snapshot(sys::Store& store, const Destination& to, const format::Layout& layout,
                                   Blocks& blocks, const Progress& progress);

/// The same for a batch of packed files, which replaces nothing: `batch.step` is afterwards the free step that it got.
Result<> write_batch(sys::Store& store, BatchPart& batch, const format::Layout& layout, Blocks& blocks);

}  // namespace forebay::commit
