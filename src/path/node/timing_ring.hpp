// Timings of saves, from the ranks of a node to the agent (agent/timing_keeper.hpp): one mapped file, `timings` in the
// staging directory, with a ring for each rank of the node.
//
// Cost: put() makes five stores and an addition in mapped and faulted memory. It does not allocate, lock or call. A
// ring holds the newest ring_timings; the reader counts overwritten timings.
// Threads: each rank writes its own ring, from one thread at a time; one reader, in any process.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"

namespace forebay::node {

/// A save makes about ten, and the agent reads twice in a save: room for 25 unread saves.
inline constexpr std::size_t ring_timings = 256;

/// A timing of a rank with its save. A stream numbers its saves in a session (format::Lineage::save), and a slot
/// belongs to one stream, so slot and number identify a save.
struct RankTiming {
    format::Timing timing;  // its target is no_target
    std::uint64_t save = 0;
    std::uint16_t slot = 0;
};

class TimingRings {
public:
    /// Makes the file with an empty ring for each rank of the node. Only the node's first rank may call it.
    static Result<TimingRings> create(const std::string& directory, std::uint32_t ranks);
    /// For the other ranks (writable) and for the agent. `corrupt` if the file is not valid.
    static Result<TimingRings> open(const std::string& directory, bool writable);

    std::uint32_t ranks() const;

    struct Of {
        std::uint64_t save = 0;
        std::uint16_t slot = 0;  // its index on the control page
    };
    /// Writes to the ring of this node's rank number `rank`.
    void put(std::uint32_t rank, Of of, format::TimingKind kind, sys::Clock::time_point start,
             sys::Clock::duration took, std::uint64_t bytes);

    /// The time that the node's first rank needs to lay out the slot of the current save. That rank sets it before the
    /// other ranks follow and read it. It is no record and is in no ring.
    void tell_layout(std::chrono::nanoseconds took);
    std::chrono::nanoseconds told_layout() const;

    /// One rank's saves that were skipped, replaced before their drain, or refused, since the session began. The rank
    /// learns it at the save. They are only counted: a loop that saves faster than storage would push the drained saves
    /// out of the ring.
    struct Unkept {
        std::uint64_t count = 0, ns = 0;
    };
    void count_unkept(std::uint32_t rank, sys::Clock::duration took);
    Unkept unkept(std::uint32_t rank) const;
    /// The number already in the session's batches. It is in the file because agents of a session follow each other,
    /// and the first may begin after many saves.
    Unkept reported() const;
    void set_reported(Unkept reported);

    /// The rank's timings after the first `seen` timings; updates `seen`. `missed` grows by the overwritten timings.
    void take(std::uint32_t rank, std::uint64_t& seen, std::uint64_t& missed, std::vector<RankTiming>& into) const;

private:
    sys::Mapping mapping_;
    std::int64_t unix_less_steady_ns_ = 0;  // taken once at the start, so a reset of the system clock moves no timing
};

/// A timing of this process, from its monotonic clock.
format::Timing timing_of(format::TimingKind kind, std::int64_t start_unix_ns, sys::Clock::duration took,
                         std::uint64_t bytes, std::uint32_t source);

/// Add it to the monotonic clock's nanoseconds to get nanoseconds since 1970, by the clocks now.
std::int64_t unix_less_steady_ns();
std::int64_t steady_ns(sys::Clock::time_point time);

}  // namespace forebay::node
