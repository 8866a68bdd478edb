// Stations: the things done with a sealed slot. The drain is the first, and the one that must succeed. The others
// follow it, in the order of the agent's list, once the slot's node file is durable; what is sealed meanwhile goes
// before them. A slot is free for the next save when no station needs it.
//
// A slot that an agent begins to drain gets a bit on the control page for each station that wants it, and loses the bit
// when the station has run. So an agent that comes after a killed one, also in a later session, knows what is left. The
// station of analyses (insitu_station.hpp) has no more than a lease: a save that needs the slot takes it. A station
// that others must not wait for works on a thread of its own (side_station.hpp).

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/move/writer.hpp"
#include "forebay/result.hpp"

namespace forebay::agent {

class Slots;

class Station {
public:
    Station() = default;
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;
    virtual ~Station() = default;

    /// "drain", for the log.
    virtual const char* name() const = 0;
    /// Its bit in SlotControl::holds, the same in every agent.
    virtual std::uint32_t hold() const = 0;
    /// Whether it has anything to do with what is sealed in the slot. Not asked of the drain.
    virtual bool wants(std::uint32_t /*slot*/) const { return true; }
    /// One try, which ends soon after `stop`, with an error. It verifies what it reads: a slot whose save was damaged
    /// in memory, and given up, is held and run as any other one. `again`: one may have come to an end before, by this
    /// agent or another one; what it has done is found by a look. After the drain it is always true. `gate` is asked
    /// between pieces of the work, and may run drains.
    virtual Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) = 0;
    /// Whether it goes on with the slot beside the agent's loop: then it takes its bit away itself, and rings the bell.
    virtual bool is_at_work(std::uint32_t /*slot*/) const { return false; }
};

/// Makes the stations that follow the drain, for an agent with these slots, which outlive them.
using MakeStations = std::function<std::vector<std::unique_ptr<Station>>(Slots& slots)>;

}  // namespace forebay::agent
