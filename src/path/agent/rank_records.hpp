// What the ranks of a node have timed of their saves, sorted by save: a record belongs to the save of its slot and its
// number, whenever it comes. A rank that the machine does not let run may write its records long after the others, when
// the agent has committed the snapshot already.
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
    /// A save on this node: `number` is format::Lineage::save, and 0 where it is not known.
    struct Save {
        std::uint32_t slot = 0;
        std::uint64_t number = 0;
        friend auto operator<=>(const Save&, const Save&) = default;
    };

    /// Of a record that is there already nothing changes; one of a save that was forgotten is passed over.
    void add(const node::RankTiming& record);
    /// How many ranks have timed the whole of the save. Each of them has written all else of it before.
    std::uint32_t ranks_of(Save save) const;
    /// Into the batch: when the first rank began, the seconds, and all timings.
    void fill(Save save, format::TimingBatch& batch) const;
    /// Forgets the save, and those that its slot held before: they were replaced.
    void forget(Save save);
    /// Records that found no room, since the last call.
    std::uint64_t take_dropped();

private:
    std::map<Save, std::vector<format::Timing>> saves_;
    std::array<std::uint64_t, node::slots_max> forgotten_{};  // of each slot: the number of the last save
    std::uint64_t count_ = 0, dropped_ = 0;
};

}  // namespace forebay::agent
