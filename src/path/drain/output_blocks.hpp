// The data of a file that threads write block after block: each appends its bytes to the current block in its turn, and
// writes the blocks that it has filled while the others go on with the next one.

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
    /// From `offset` of `file` on, which has at most `threads` writers; `file` and `flow` must outlive it. Blocks have
    /// `block_bytes`, or as many as a chunk needs to end in at most two of them.
    OutputBlocks(sys::File& file, move::Flow& flow, std::uint64_t offset, std::uint64_t block_bytes,
                 std::size_t threads);

    struct Full {
        PageBuffer* buffer = nullptr;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };

    // One thread at a time, in its turn.

    /// Where the next byte will lie.
    std::uint64_t position() const { return offset_ + filled_; }
    /// The blocks that are full now are the caller's to write(), after its turn. Waits for a block to be written when
    /// all are full.
    std::vector<Full> append(std::span<const std::byte> bytes);
    /// What is in the last block, filled up to a page; no buffer when there is nothing.
    Full rest();

    // Any number of threads.

    Result<> write(const Full& full);
    /// Seconds that one thread takes to write a byte; nothing before the first block is written.
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

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable freed_;
    std::vector<PageBuffer*> free_;
    double write_seconds_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace forebay::drain
