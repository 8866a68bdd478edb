#include "path/agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/move/retry.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/preemption.hpp"
#include "path/agent/target.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

// The pause between two checks if the application lives: 2 system calls a second in an idle agent.
constexpr std::chrono::milliseconds idle_pause{500};
// The pause between two looks at the peers of a finished agent. Short at first: the nodes of a snapshot end together.
constexpr std::chrono::milliseconds peers_pause_min{5}, peers_pause_max{1000};

// Between two pieces of a station's work after the drain: slots that were sealed meanwhile go first.
class DrainsFirst final : public move::Gate {
public:
    DrainsFirst(Schedule& schedule, const Committer& committer, std::function<bool()> drain_next)
        : schedule_(schedule), committer_(committer), drain_next_(std::move(drain_next)) {}
    bool wanted() override { return schedule_.next() || committer_.is_due(); }
    void pass() override {
        schedule_.wait_for_work();
        while (drain_next_()) {
        }
    }

private:
    Schedule& schedule_;
    const Committer& committer_;
    const std::function<bool()> drain_next_;
};

}  // namespace

Agent::Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Tell tell,
             const MakeStations& make_stations)
    : staging_(staging),
      page_(staging.control()),
      session_(std::move(session)),
      tell_(std::move(tell)),
      schedule_(page_),
      slots_(store, staging, session_, schedule_, tell_),
      speed_(staging, session_.agent),
      slot_drain_(store, staging, session_, schedule_, slots_, speed_, tell_),
      committer_(store, session_, schedule_, slots_, std::move(make_view), tell_) {
    if (make_stations) stations_ = make_stations(slots_);
}

bool Agent::run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait) {
    const auto ran = attempt([&] { run_until(stop, peers_wait); });
    if (!ran) slots_.give_up(ran.error());
    return ran && !slots_.unfinished();
}

void Agent::run_until(const std::atomic<bool>& stop, std::chrono::seconds peers_wait) {
    // A seal rings the bell. If every CPU has a rank, the agent would take the CPU from the ringing rank.
    if (const auto given = sys::give_way(); !given) tell_({.what = What::takes_cpus, .detail = given.error().line()});
    slots_.take_over();
    std::chrono::milliseconds pause = peers_pause_min;
    auto last_progress = sys::Clock::now();
    while (!stop.load()) {
        const auto bell = schedule_.wait_for_work();
        // Between drains the steps are taken here; during a drain Speed::update() takes them.
        speed_.take_steps();
        // With ending_after_drains the remaining stations are left to the next agent.
        const bool drains_alone = page_.ending.load() == node::ending_after_drains;
        if (work(stop) || (!drains_alone && visit_stations(stop))) {
            pause = peers_pause_min;
            last_progress = sys::Clock::now();
            continue;
        }
        const bool waits_for_peers = slots_.waits_for_peers();
        const bool leaving = page_.ending.load() != 0 || !staging_.application_lives();
        const bool peers_come = waits_for_peers && sys::Clock::now() - last_progress < peers_wait;
        // A file that is missing at the target may need another drain, so the agent does not leave yet.
        if (leaving && !peers_come && !slots_.misses_any() && (drains_alone || !any_at_work())) break;
        // The bell was read before the work: a ring during the work ends this wait at once.
        sys::wait_on(page_.bell, bell, waits_for_peers ? pause : idle_pause);
        pause = std::min(pause * 2, peers_pause_max);
    }
    slots_.check_counts();
}

// Drains the most urgent slot, and looks once at slots that wait for peers. True if anything changed.
bool Agent::work(const std::atomic<bool>& stop) {
    slots_.count_missed_deadlines();
    bool changed = false;
    if (const auto slot = schedule_.next()) {
        const auto state = slots_.control(*slot).state.load(std::memory_order_acquire);
        if (take(*slot, state)) drain(*slot, state == SlotState::failed, stop);
        changed = true;
    }
    return committer_.commit_drained() || changed;
}

// Runs the further stations for one slot. True if there was a slot. Failures of stations cost the simulation and the
// snapshot nothing.
bool Agent::visit_stations(const std::atomic<bool>& stop) {
    const auto slot = schedule_.next_held([this](std::uint32_t index) { return at_work(index); });
    if (!slot) return false;
    auto& holds = slots_.control(*slot).holds;
    // A save may take the slot from a station with a lease, and the slot may be drained while the station runs.
    const auto save = slots_.control(*slot).snapshot_id.load();
    const auto is_there = [&] { return slots_.control(*slot).snapshot_id.load() == save; };
    const auto tell_unseen = [&](const std::string& by) {
        auto unseen = slots_.event(What::left_unseen, *slot);
        unseen.detail = by;
        tell_(unseen);
    };
    DrainsFirst gate(schedule_, committer_, [&] { return !stop.load() && work(stop); });
    std::uint32_t known = 0;
    for (const auto& station : stations_) {
        known |= station->hold();
        if ((holds.load() & station->hold()) == 0 || station->is_at_work(*slot)) continue;
        const auto run = attempt([&]() -> Result<> {
            // The agent after a killed agent has not mapped the slot.
            if (!slots_.notes(*slot).mapping.mapped()) FB_TRY(slots_.map(*slot));
            return station->run(*slot, true, gate, stop);
        });
        if (!run && (stop.load() || page_.ending.load() == node::ending_after_drains))
            return false;  // the next agent runs it
        if (!run) tell_unseen(fmt::format("{}: {}", station->name(), run.error().line()));
        if (!is_there()) break;
        if (!station->is_at_work(*slot)) holds.fetch_and(~station->hold());
    }
    // A bit that no station of this agent has would hold the slot for ever.
    if (is_there() && (holds.fetch_and(known) & ~known) != 0) tell_unseen("the drain that an earlier agent left");
    node::ring(page_.news);
    return true;
}

// The bits of stations that work on the slot beside this loop.
std::uint32_t Agent::at_work(std::uint32_t slot) const {
    std::uint32_t bits = 0;
    for (const auto& station : stations_)
        if (station->is_at_work(slot)) bits |= station->hold();
    return bits;
}

bool Agent::any_at_work() const {
    for (std::uint32_t slot = 0; slot < slots_.count(); ++slot)
        if (at_work(slot) != 0) return true;
    return false;
}

// Only the agent takes a slot out of `draining`, so no slot is free before its stations are noted.
bool Agent::take(std::uint32_t slot, SlotState state) {
    if (!slots_.take(slot, state)) return false;
    std::uint32_t holds = 0;
    for (const auto& station : stations_)
        if (station->wants(slot)) holds |= station->hold();
    slots_.control(slot).holds = holds;
    return true;
}

void Agent::overtake(std::uint32_t slot, std::uint32_t overtaken, const std::atomic<bool>& stop) {
    if (!take(slot, SlotState::sealed)) return;
    // Otherwise a failure of this drain would count as a failure before the seal, and be tried again at once.
    schedule_.wait_for_work();
    ++page_.counts.overtakes;
    auto overtook = slots_.event(What::overtook, slot);
    overtook.bytes = slots_.control(overtaken).drained_bytes.load();
    overtook.detail =
        fmt::format("step {} of stream '{}'", slots_.control(overtaken).step.load(), slots_.stream_name(overtaken));
    tell_(overtook);
    if (drain(slot, false, stop)) committer_.commit(slot);
}

void Agent::tell_retried(std::uint32_t slot, const Error& error, sys::Clock::time_point failed_at) {
    auto retried = slots_.event(What::retried, slot);
    retried.seconds = std::chrono::duration<double>(sys::Clock::now() - failed_at).count();
    retried.detail = error.line();
    tell_(retried);
}

bool Agent::drain(std::uint32_t slot, bool again, const std::atomic<bool>& stop) {
    auto& control = slots_.control(slot);
    slots_.begin_drain(slot);
    // Before the first try: at this event NeighbourSide chooses the way of the drain.
    tell_(slots_.event(What::begun, slot));
    Preemption preemption(
        schedule_, slots_, speed_, committer_, slot, [&](std::uint32_t other) { overtake(other, slot, stop); }, stop);
    const auto start = sys::Clock::now();
    Result<> last_try;
    auto failed_at = start;
    const auto cpu_before = sys::cpu_time();
    const auto result = move::with_retries(retry_options(session_), &stop, [&] {
        if (!last_try) tell_retried(slot, last_try.error(), failed_at);
        // After the first try a result may exist, so later tries look for it.
        last_try = slot_drain_.run(slot, std::exchange(again, true), preemption, stop);
        failed_at = sys::Clock::now();
        return last_try;
    });
    // Overtaking drains count their own time.
    const auto took = sys::Clock::now() - start - preemption.overtaken();
    page_.counts.drain_seconds += std::chrono::duration<double>(took).count();
    const auto cpu_used = sys::cpu_time() - cpu_before - preemption.overtaken_cpu();
    page_.counts.drain_cpu_seconds += std::chrono::duration<double>(cpu_used).count();
    page_.draining.fetch_sub(1);
    if (slots_.notes(slot).overruled) {
        ++page_.counts.limits_overruled;
        auto overruled = slots_.event(What::overruled, slot);
        overruled.detail = fmt::format("slowdown_percent_max = {}", session_.agent.slowdown_percent_max);
        tell_(overruled);
    }
    if (!result) {
        slots_.fail(slot, result.error());
        return false;
    }
    page_.counts.bytes_drained += control.drained_bytes.load();
    auto drained = slots_.event(What::drained, slot);
    drained.bytes = control.drained_bytes.load();
    drained.seconds = slots_.notes(slot).drain_seconds = std::chrono::duration<double>(took).count();
    tell_(drained);
    slots_.set(slot, SlotState::drained);
    return true;
}

}  // namespace forebay::agent
