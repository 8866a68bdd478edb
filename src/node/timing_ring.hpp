// What the ranks of a node have timed of their saves, on the node: one mapped file, `timings` in the staging directory,
// with a ring for each rank of the node, which the agent reads (agent/timing_keeper.hpp).
//
// Cost: put() is four stores and an addition in memory that is mapped and faulted in before; it allocates, locks and
// calls nothing. A ring holds the newest ring_timings; the reader counts what it comes too late for.
// Threads: each rank puts into its own ring, one thread at a time, as it saves; one reader, in any process.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/timing.hpp"
#include "sys/clock.hpp"
#include "sys/mapping.hpp"

namespace forebay::node {

/// A save makes five, and the agent reads twice a save: room for 25 saves of which it has seen none.
inline constexpr std::size_t ring_timings = 128;

class TimingRings {
public:
    /// By the node's first rank: makes the file, with an empty ring for each rank of the node.
    static Result<TimingRings> create(const std::string& directory, std::uint32_t ranks);
    /// By the other ranks, for writing, and by the agent. `corrupt` for a file that is none.
    static Result<TimingRings> open(const std::string& directory, bool writable);

    std::uint32_t ranks() const;

    /// Into the ring of the rank of that number on this node. `slot` is the index of the slot that is saved to; a
    /// reader finds it in Timing::target.
    void put(std::uint32_t rank, format::TimingKind kind, sys::Clock::time_point start, sys::Clock::duration took,
             std::uint64_t bytes, std::uint16_t slot);

    /// Saves that were skipped since the session began, of one rank. They are counted and stand in no ring: a loop that
    /// saves more often than storage takes would push the saves out of it that are drained.
    struct Skips {
        std::uint64_t count = 0, ns = 0;
    };
    void skip(std::uint32_t rank, sys::Clock::duration took);
    Skips skips(std::uint32_t rank) const;

    /// Timings that the rank has put since `seen` of them, which is brought up to date; `missed` grows by those that
    /// were overwritten.
    void take(std::uint32_t rank, std::uint64_t& seen, std::uint64_t& missed, std::vector<format::Timing>& into) const;

private:
    sys::Mapping mapping_;
    std::int64_t unix_less_steady_ns_ = 0;  // as this process began: a clock that is set anew moves no timing
};

/// A timing of this process, from its monotonic clock.
format::Timing timing_of(format::TimingKind kind, std::int64_t start_unix_ns, sys::Clock::duration took,
                         std::uint64_t bytes, std::uint32_t source);

/// What is added to the monotonic clock's nanoseconds for those since 1970, by the clocks now.
std::int64_t unix_less_steady_ns();
std::int64_t steady_ns(sys::Clock::time_point time);

}  // namespace forebay::node
