// The drain's engine: writes ranges of memory to a file, mostly at the same offsets, in blocks, several at once, paced.
//
// Life:    one call writes everything or ends with an error; nothing is kept between calls.
// Threads: a call uses up to in_flight threads, including its caller's, for as long as it lasts; `check` runs on all of
//          them at once. The memory must not change until the call returns.
// Direct:  for a File with direct(), `memory` starts at a page and the ranges are whole pages (4096).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/move/pace.hpp"
#include "core/sys/store.hpp"
#include "forebay/result.hpp"

namespace forebay::move {

/// An interruption between two pieces of a call, such as a more urgent call.
class Gate {
public:
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    virtual ~Gate() = default;
    /// True if something waits. Asked before each piece, by all threads at once.
    virtual bool wanted() = 0;
    /// Called by one thread, while no other thread of the call writes. The waiting work is done when it returns.
    virtual void pass() = 0;
};

struct WriteOptions {
    std::uint64_t block_bytes = 16u << 20;    // of one write; whole pages
    int in_flight = 4;                        // writes at once
    std::uint64_t rate_bytes_per_second = 0;  // of this call; 0: no limit
    Pace* pace = nullptr;                     // an additional limit, shared with other calls
    Gate* gate = nullptr;
};

/// A place in the file and in memory: the same, unless `shift` is added for memory.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::int64_t shift = 0;

    std::uint64_t in_memory() const { return offset + static_cast<std::uint64_t>(shift); }
};

/// Called with each block's place in memory before any byte of it is written; its error keeps the block out of the
/// file.
using Check = std::function<Result<>(std::uint64_t offset, std::uint64_t bytes)>;

/// Writes the ranges in their order, cut at multiples of block_bytes of the file. With a rate, a block is written in
/// pieces of some tens of milliseconds, so that the target and the computing ranks see an even flow. Without a rate, a
/// block is one piece. `done` grows by each written piece. If `stop` becomes true, the call ends with `retry` within a
/// piece. The first error ends the call. Among several errors, the error of the lowest offset is returned, and all
/// blocks below it are written. Nothing is synced here.
Result<> write_ranges(sys::File& file, std::span<const std::byte> memory, std::span<const ByteRange> ranges,
                      const WriteOptions& options, const Check& check = {}, std::atomic<std::uint64_t>* done = nullptr,
                      const std::atomic<bool>* stop = nullptr);

}  // namespace forebay::move
