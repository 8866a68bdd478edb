// The agent of one node: sealed slot -> drain -> commit -> retention, then further stations (station.hpp). It runs
// until the session ends, or until its application died and no work is left. This file is its loop. schedule.hpp
// chooses the next slot, speed.hpp the speed, slots.hpp knows the state of slots. serve.hpp connects an agent to its
// surroundings, hosts.hpp starts it.
//
// Errors never end the agent. A slot whose drain fails becomes `failed` after bounded retries. Its staged copy stays,
// and the agent tries again at the next bell.
//
// A slot that is sealed during a drain, and is more urgent, overtakes the drain: between two pieces the drain stops,
// the urgent slot is drained and committed, then the first drain continues (preemption.hpp).

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "path/agent/committer.hpp"
#include "path/agent/events.hpp"
#include "path/agent/schedule.hpp"
#include "path/agent/slot_drain.hpp"
#include "path/agent/slots.hpp"
#include "path/agent/speed.hpp"
#include "path/agent/station.hpp"
#include "path/agent/view_maker.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// The longest time that an agent waits for its peers after the session ended. It may leave before them: the last agent
/// commits.
inline constexpr std::chrono::seconds peers_wait_max{10};

class Agent {
public:
    Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Tell tell,
          const MakeStations& make_stations = {});
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    /// Returns when the session ended or `stop` is true. True if every sealed slot is committed. After the end of the
    /// session it waits at most `peers_wait` for missing node files of the remaining nodes.
    bool run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

    /// Paths that have the name of a view of a replaced or removed snapshot but are no views.
    const std::set<std::string>& others() const { return committer_.others(); }

private:
    void run_until(const std::atomic<bool>& stop, std::chrono::seconds peers_wait);
    bool work(const std::atomic<bool>& stop);
    bool visit_stations(const std::atomic<bool>& stop);
    std::uint32_t at_work(std::uint32_t slot) const;
    bool any_at_work() const;
    bool take(std::uint32_t slot, node::SlotState state);
    void overtake(std::uint32_t slot, std::uint32_t overtaken, const std::atomic<bool>& stop);
    void tell_retried(std::uint32_t slot, const Error& error, sys::Clock::time_point failed_at);
    bool drain(std::uint32_t slot, bool again, const std::atomic<bool>& stop);

    node::Staging& staging_;
    node::Control& page_;
    const node::SessionFile session_;
    const Tell tell_;
    Schedule schedule_;
    Slots slots_;
    Speed speed_;
    SlotDrain slot_drain_;
    Committer committer_;
    std::vector<std::unique_ptr<Station>> stations_;  // after the drain
};

}  // namespace forebay::agent
