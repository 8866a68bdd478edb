// The drain's engine: writes ranges of memory to offsets of a file, mostly the same, in blocks, several at once, paced.
//
// Life:    one call writes everything or ends with an error; nothing is kept between calls.
// Threads: a call uses up to in_flight threads, its caller's among them, for as long as it lasts; `check` runs on
//          all of them at once. The memory must stay as it is until the call returns.
// Direct:  for a File whose direct() holds, `memory` starts at a page and the ranges are whole pages (4096).

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

/// What may come between two pieces of a call, such as another call that is more urgent.
class Gate {
public:
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    virtual ~Gate() = default;
    /// Whether something waits. Asked before each piece, by all threads at once.
    virtual bool wanted() = 0;
    /// By one thread, while no other one of the call writes. What waited is done when it returns.
    virtual void pass() = 0;
};

struct WriteOptions {
    std::uint64_t block_bytes = 16u << 20;    // of one write; whole pages
    int in_flight = 4;                        // writes at once
    std::uint64_t rate_bytes_per_second = 0;  // of this call; 0: as fast as the file takes it
    Pace* pace = nullptr;                     // a limit shared with other calls, which holds too
    Gate* gate = nullptr;
};

/// A place in the file, and in memory: the same, unless `shift` is added to it.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::int64_t shift = 0;

    std::uint64_t in_memory() const { return offset + static_cast<std::uint64_t>(shift); }
};

/// Called with the place in memory of each block before any of it is written; its error keeps the block out of the
/// file.
using Check = std::function<Result<>(std::uint64_t offset, std::uint64_t bytes)>;

/// Writes the ranges, cut at multiples of block_bytes of the file, in their order. With a rate, a block is written in
/// pieces of some tens of milliseconds, so that the target and the computing ranks see an even flow; without one, a
/// block is one piece. `done` grows by each piece that was written. When `stop` becomes true, the call ends with
/// `retry` within a piece. The first error ends the call: of several, the one of the lowest offset is returned, and
/// blocks below it have been written. Nothing is synced here.
Result<> write_ranges(sys::File& file, std::span<const std::byte> memory, std::span<const ByteRange> ranges,
                      const WriteOptions& options, const Check& check = {}, std::atomic<std::uint64_t>* done = nullptr,
                      const std::atomic<bool>* stop = nullptr);

}  // namespace forebay::move
