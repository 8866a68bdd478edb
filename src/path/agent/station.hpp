// Stations: the steps done with a sealed slot. The drain is the first station, and must succeed. The further stations
// follow in the order of the agent's list, when the slot's node file is durable. Slots that are sealed meanwhile go
// first. A slot is free for the next save when no station needs it.
//
// When an agent begins to drain a slot, it sets a bit on the control page for each station that wants the slot. It
// clears the bit when the station has run. So the agent after a killed agent, also in a later session, knows the
// remaining work. The station of analyses (insitu_station.hpp) only has a lease: a save that needs the slot takes it. A
// station that must not delay the rest works on a thread of its own (side_station.hpp).

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
    /// True if it has anything to do with the sealed slot. Not called for the drain.
    virtual bool wants(std::uint32_t /*slot*/) const { return true; }
    /// One try. It ends soon after `stop`, with an error. It verifies the bytes that it reads: a slot whose save was
    /// damaged in memory and given up is held and run like any slot. `again`: a try may have ended before, by this or
    /// another agent, so look for its results. It is always true after the drain. `gate` is asked between pieces of the
    /// work, and may run drains.
    virtual Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) = 0;
    /// True if it works on the slot beside the agent's loop: then it clears its bit itself, and rings the bell.
    virtual bool is_at_work(std::uint32_t /*slot*/) const { return false; }
};

/// Makes the stations after the drain, for an agent with these slots. The slots outlive them.
using MakeStations = std::function<std::vector<std::unique_ptr<Station>>(Slots& slots)>;

}  // namespace forebay::agent
