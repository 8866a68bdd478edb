// What the ranks of a node have timed of their saves, on the node: one mapped file, `timings` in the staging directory,
// with a ring for each rank of the node, which the agent reads (agent/timing_keeper.hpp).
//
// Cost: put() is five stores and an addition in memory that is mapped and faulted in before; it allocates, locks and
// calls nothing. A ring holds the newest ring_timings; the reader counts what it comes too late for.
// Threads: each rank puts into its own ring, one thread at a time, as it saves; one reader, in any process.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"

namespace forebay::node {

/// A save makes about ten, and the agent reads twice a save: room for 25 saves of which it has seen none.
inline constexpr std::size_t ring_timings = 256;

/// A timing of a rank, and the save it is of. A stream's saves of one session have numbers (format::Lineage::save), and
/// a slot is of one stream: slot and number name one save.
struct RankTiming {
    format::Timing timing;  // its target is no_target
    std::uint64_t save = 0;
    std::uint16_t slot = 0;
};

class TimingRings {
public:
    /// By the node's first rank: makes the file, with an empty ring for each rank of the node.
    static Result<TimingRings> create(const std::string& directory, std::uint32_t ranks);
    /// By the other ranks, for writing, and by the agent. `corrupt` for a file that is none.
    static Result<TimingRings> open(const std::string& directory, bool writable);

    std::uint32_t ranks() const;

    struct Of {
        std::uint64_t save = 0;
        std::uint16_t slot = 0;  // its index on the control page
    };
    /// Into the ring of the rank of that number on this node.
    void put(std::uint32_t rank, Of of, format::TimingKind kind, sys::Clock::time_point start,
             sys::Clock::duration took, std::uint64_t bytes);

    /// How long the node's first rank has laid out the slot of the save under way: told by that rank before the others
    /// follow it, and read by them then. No record: it stands in no ring.
    void tell_layout(std::chrono::nanoseconds took);
    std::chrono::nanoseconds told_layout() const;

    /// Saves of one rank since the session began that were skipped, replaced before they were drained, or refused. The
    /// rank knows: it is told when it saves. They are counted and stand in no ring: a loop that saves more often than
    /// storage takes would push the saves out of it that are drained.
    struct Unkept {
        std::uint64_t count = 0, ns = 0;
    };
    void count_unkept(std::uint32_t rank, sys::Clock::duration took);
    Unkept unkept(std::uint32_t rank) const;
    /// How many of these the batches of the session contain by now. Agents of a session follow one another, and the
    /// first may begin after many saves: so the number stands in the file.
    Unkept reported() const;
    void set_reported(Unkept reported);

    /// Timings that the rank has put since `seen` of them, which is brought up to date; `missed` grows by those that
    /// were overwritten.
    void take(std::uint32_t rank, std::uint64_t& seen, std::uint64_t& missed, std::vector<RankTiming>& into) const;

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
