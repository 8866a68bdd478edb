// Writes a snapshot of one node directly to the target, and commits it. The bytes go once from their source to the node
// file, through a window of some megabytes for any size. It needs no slot: no computation waits that a copy in memory
// would set free.
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

/// The source of the blocks' bytes.
class Blocks {
public:
    virtual ~Blocks() = default;
    /// Fills `to` with bytes of a block, beginning at its byte `at`. Each block is read once, front to back in windows.
    /// A block without bytes is read with an empty `to`. `block` counts in Layout::blocks. An error ends the writing.
    virtual Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) = 0;
    /// Sorts the blocks into the order of reading. The default is the order of the layout.
    virtual void sort(std::vector<std::size_t>& blocks) const { static_cast<void>(blocks); }
};

struct Destination {
    std::string run;  // created if it does not exist
    std::string stream;
    std::int64_t step = 0;
    double time = 0;
    bool replaces = false;                        // the committed save of that step, if there is one
    std::optional<format::Lineage> lineage = {};  // nothing: the lineage of the line that the run is on
};

/// Gets the bytes done and the bytes in total.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Durable when it returns. Returns the snapshot's directory. Checksums are made from the bytes as they were read.
/// `refused` if the step is committed already, or becomes so during the call, unless `to.replaces`; also if another
/// program's save of the step is later. After an error nothing is left. If this removal fails too, a `.part` stays
/// until `forebay recover --stale`.
Result<std::string> write_snapshot(sys::Store& store, const Destination& to, const format::Layout& layout,
                                   Blocks& blocks, const Progress& progress);

/// The same for a batch of packed files. It replaces nothing: `batch.step` becomes the free step that the batch got.
Result<> write_batch(sys::Store& store, BatchPart& batch, const format::Layout& layout, Blocks& blocks);

}  // namespace forebay::commit
