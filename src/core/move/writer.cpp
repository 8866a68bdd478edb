#include "core/move/writer.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/move/flow.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"

namespace forebay::move {

namespace {

// If every CPU computes, the kernel wakes most threads of a drain on the same CPU, which serves the interrupts of the
// disk. Measured with 2 CPUs: one had 61 to 97 % of the agent's time. So a thread that had to wait takes the CPUs in
// turn, a block on each. No thread waits if a CPU is idle.

/// One call of write_ranges, shared by its threads.
class Writing {
public:
    Writing(sys::File& file, std::span<const std::byte> memory, std::span<const ByteRange> ranges,
            const WriteOptions& options, const Check& check, std::atomic<std::uint64_t>* done,
            const std::atomic<bool>* stop)
        : file_(file),
          memory_(memory),
          ranges_(ranges),
          options_(options),
          check_(check),
          done_(done),
          flow_(options, stop) {}

    /// Takes and writes blocks until there are none left, or a block of lower offset has failed.
    void work() {
        bool crowded = false;
        try {
            while (const auto block = next_block()) {
                // The last check had to wait for a CPU: see above.
                if (crowded) sys::take_cpu(cpu_turn_.fetch_add(1, std::memory_order_relaxed));
                const auto written = write_block(*block, crowded);
                if (!written) fail(block->offset, written.error());
            }
        } catch (const std::exception& thrown) {
            fail(0, {ErrorKind::broken, fmt::format("writing a node file: {}", thrown.what())});
        }
    }

    Result<> outcome() const {
        if (first_error_) return *first_error_;
        return {};
    }

private:
    std::optional<ByteRange> next_block() {
        const std::lock_guard lock(mutex_);
        while (range_index_ < ranges_.size() && in_range_ == ranges_[range_index_].bytes) {
            ++range_index_;
            in_range_ = 0;
        }
        if (range_index_ == ranges_.size() || first_error_) return std::nullopt;
        const ByteRange& range = ranges_[range_index_];
        const std::uint64_t offset = range.offset + in_range_;
        const std::uint64_t block_end = (offset / options_.block_bytes + 1) * options_.block_bytes;
        const std::uint64_t bytes = std::min(block_end - offset, range.bytes - in_range_);
        in_range_ += bytes;
        return ByteRange{offset, bytes, range.shift};
    }

    Result<> write_block(const ByteRange& block, bool& crowded) {
        if (check_ && !flow_.stopped()) FB_TRY(check_block(block, crowded));
        // If a block of lower offset has failed, so has the call.
        const auto goes_on = [&] { return block.offset <= failed_offset_.load(std::memory_order_relaxed); };
        return flow_.write(file_, block.offset, memory_.subspan(block.in_memory(), block.bytes), goes_on, done_);
    }

    // A check only computes. If it takes longer than its CPU time, it waits for a busy CPU.
    Result<> check_block(const ByteRange& block, bool& crowded) {
        const sys::Computing computing;
        const auto checked = check_(block.in_memory(), block.bytes);
        crowded = computing.was_crowded();
        return checked;
    }

    void fail(std::uint64_t offset, const Error& error) {
        const std::lock_guard lock(mutex_);
        if (first_error_ && offset >= failed_offset_.load(std::memory_order_relaxed)) return;
        first_error_ = error;
        failed_offset_.store(offset, std::memory_order_relaxed);
    }

    sys::File& file_;
    const std::span<const std::byte> memory_;
    const std::span<const ByteRange> ranges_;
    const WriteOptions& options_;
    const Check& check_;
    std::atomic<std::uint64_t>* const done_;
    Flow flow_;

    std::atomic<std::uint64_t> cpu_turn_{0};
    std::mutex mutex_;  // guards the members below
    std::size_t range_index_ = 0;
    std::uint64_t in_range_ = 0;
    std::optional<Error> first_error_;
    std::atomic<std::uint64_t> failed_offset_{std::numeric_limits<std::uint64_t>::max()};  // also read without the lock
};

Result<> check_arguments(std::span<const std::byte> memory, std::span<const ByteRange> ranges,
                         const WriteOptions& options) {
    if (options.block_bytes == 0 || options.block_bytes % limits::page_bytes != 0 || options.in_flight < 1)
        return Error{ErrorKind::refused,
                     fmt::format("write blocks of {} bytes, {} in flight: a positive multiple of {} and at "
                                 "least 1 are needed",
                                 options.block_bytes, options.in_flight, limits::page_bytes)};
    for (const ByteRange& range : ranges)
        if (range.in_memory() > memory.size() || range.bytes > memory.size() - range.in_memory())
            return Error{ErrorKind::broken,
                         fmt::format("range of {} bytes at {} to write lies outside the {} bytes of memory",
                                     range.bytes, range.in_memory(), memory.size())};
    return {};
}

}  // namespace

Result<> write_ranges(sys::File& file, std::span<const std::byte> memory, std::span<const ByteRange> ranges,
                      const WriteOptions& options, const Check& check, std::atomic<std::uint64_t>* done,
                      const std::atomic<bool>* stop) {
    FB_TRY(check_arguments(memory, ranges, options));
    Writing writing(file, memory, ranges, options, check, done, stop);
    std::uint64_t bytes = 0;
    for (const ByteRange& range : ranges) bytes += range.bytes;
    const std::uint64_t blocks = bytes / options.block_bytes + ranges.size();
    const auto threads = std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(options.in_flight));
    sys::work_together(threads, [&writing] { writing.work(); });
    return writing.outcome();
}

}  // namespace forebay::move
