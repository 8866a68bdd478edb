// The output of several threads as a series of blocks. Each thread appends its bytes to the current block in its turn.
// Then it writes the blocks that it filled, while the other threads fill the next block.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/page_buffer.hpp"
#include "core/move/flow.hpp"
#include "core/sys/store.hpp"

namespace forebay::drain {

class OutputBlocks {
public:
    /// Begins at `offset` of `file`, with at most `threads` writers. `file` and `flow` must outlive it. A block has
    /// `block_bytes`, or more if a chunk needs it to end in at most two blocks.
    OutputBlocks(sys::File& file, move::Flow& flow, std::uint64_t offset, std::uint64_t block_bytes,
                 std::size_t threads);

    struct Full {
        PageBuffer* buffer = nullptr;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };

    // One thread at a time, in its turn.

    /// The place of the next byte.
    std::uint64_t position() const { return offset_ + filled_; }
    /// Returns the full blocks: the caller must write() them after its turn. If all buffers are full, it waits until
    /// one is written.
    std::vector<Full> append(std::span<const std::byte> bytes);
    /// The rest in the last block, filled up to a page; no buffer if there is none.
    Full rest();

    // Any number of threads.

    Result<> write(const Full& full);
    /// Seconds that one thread takes to write a byte; empty before the first block is written.
    std::optional<double> write_seconds() const;

private:
    PageBuffer* take_free();
    Full next(std::uint64_t bytes);

    sys::File& file_;
    move::Flow& flow_;
    const std::uint64_t block_bytes_;
    std::uint64_t offset_;  // of the current block
    std::uint64_t filled_ = 0;
    PageBuffer* current_ = nullptr;
    std::vector<PageBuffer> buffers_;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable freed_;
    std::vector<PageBuffer*> free_;
    double write_seconds_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace forebay::drain
