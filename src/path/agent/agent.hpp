// The agent of one node: sealed slot -> drain -> commit -> retention, then other stations (station.hpp), until the
// session ends or its application has died and nothing is left to do. This is its loop; schedule.hpp says what comes
// next, speed.hpp how fast, slots.hpp what stands where. serve.hpp puts an agent together with what surrounds it,
// hosts.hpp says who runs it.
//
// Errors never end it: a slot whose drain fails becomes `failed` after bounded retries, its staged copy stays, and it
// is tried again at the next bell.
//
// A slot that is sealed while a drain is under way, and is more urgent, overtakes it: between two pieces the drain
// stops, the other slot is drained and committed, then the first goes on where it was (preemption.hpp).

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

/// The longest wait of an agent whose session has ended, for the others. It may leave before them: the last one
/// commits.
inline constexpr std::chrono::seconds peers_wait_max{10};

class Agent {
public:
    Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Tell tell,
          const MakeStations& make_stations = {});
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    /// Returns when the session ended or `stop` is true; then whether everything that was sealed is committed. What
    /// lacks node files of other nodes when the session has ended is waited for at most `peers_wait`.
    bool run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

    /// Paths of what stood under names of views of snapshots that it replaced or removed, and was none.
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
