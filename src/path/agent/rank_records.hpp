// The timings of saves from the ranks of a node, sorted by save. A record belongs to the save with its slot and number,
// no matter when it comes. A rank that gets no CPU may write its records long after the rest, when the agent has
// committed the snapshot already.
//
// Threads: none of its own; one at a time.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/format/timing.hpp"
#include "path/node/control.hpp"
#include "path/node/timing_ring.hpp"

namespace forebay::agent {

class RankRecords {
public:
    /// A save on this node. `number` is format::Lineage::save, or 0 if unknown.
    struct Save {
        std::uint32_t slot = 0;
        std::uint64_t number = 0;
        friend auto operator<=>(const Save&, const Save&) = default;
    };

    /// Ignores a record that is there already, or whose save was forgotten.
    void add(const node::RankTiming& record);
    /// The number of ranks that timed the whole save. Each of them wrote all its other records of the save before.
    std::uint32_t ranks_of(Save save) const;
    /// Adds to the batch the begin of the first rank, the seconds, and all timings.
    void fill(Save save, format::TimingBatch& batch) const;
    /// Forgets the save, and earlier saves of its slot: they were replaced.
    void forget(Save save);
    /// Records that found no room since the last call.
    std::uint64_t take_dropped();

private:
    std::map<Save, std::vector<format::Timing>> saves_;
    std::array<std::uint64_t, node::slots_max> forgotten_{};  // for each slot: the number of the last save
    std::uint64_t count_ = 0, dropped_ = 0;
};

}  // namespace forebay::agent
