// How the threads of one call write: in pieces, within its rates, and with other calls passing between two pieces.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <shared_mutex>
#include <span>

#include "core/move/pace.hpp"
#include "core/move/writer.hpp"

namespace forebay::move {

class Flow {
public:
    /// Both must outlive it; `stop` may be null.
    Flow(const WriteOptions& options, const std::atomic<bool>* stop)
        : options_(options), stop_(stop), pace_(options.rate_bytes_per_second) {}

    bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

    /// If the gate is wanted: waits until no thread of the call is busy, then lets the waiting call pass.
    void let_others_pass();

    /// While it is held, nothing passes. Do not hold it while you wait for another thread of the call.
    std::shared_lock<std::shared_mutex> busy() { return std::shared_lock(gate_mutex_); }

    /// Writes the bytes in pieces, each after its turn, while `goes_on` holds; `done` (may be null) grows by each
    /// piece. `retry` if `stop` became true.
    Result<> write(sys::File& file, std::uint64_t offset, std::span<const std::byte> bytes,
                   const std::function<bool()>& goes_on, std::atomic<std::uint64_t>* done);

private:
    std::uint64_t piece_bytes(std::uint64_t bytes_max) const;
    bool wait_turn(std::uint64_t bytes);

    const WriteOptions& options_;
    const std::atomic<bool>* const stop_;
    Pace pace_;
    std::shared_mutex gate_mutex_;  // shared by busy threads, exclusive for the thread at the gate
};

}  // namespace forebay::move
