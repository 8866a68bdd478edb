#include "path/agent/preemption.hpp"

#include <thread>
#include <utility>

#include "core/sys/thread.hpp"

namespace forebay::agent {

namespace {

// How often a holding drain checks if the measured step has ended.
constexpr std::chrono::milliseconds hold_pause{5};

}  // namespace

Preemption::Preemption(const Schedule& schedule, Slots& slots, Speed& speed, Committer& committer, std::uint32_t slot,
                       Overtake overtake, const std::atomic<bool>& stop)
    : schedule_(schedule),
      slots_(slots),
      speed_(speed),
      committer_(committer),
      slot_(slot),
      urgency_(slots.urgency(slot)),
      overtake_(std::move(overtake)),
      stop_(stop) {}

bool Preemption::others_wait() const {
    return schedule_.next_to_overtake(urgency_) || schedule_.any_misses_deadline(sys::unix_ns()) || committer_.is_due();
}

void Preemption::update_speed() {
    auto& notes = slots_.notes(slot_);
    const bool overruled = speed_.update({.done_bytes = slots_.control(slot_).drained_bytes.load(),
                                          .file_bytes = notes.file_bytes,
                                          .ends_unix_ns = schedule_.ends_unix_ns(slot_)});
    if (overruled) notes.overruled = true;
}

bool Preemption::wanted() {
    if (stop_.load()) return false;
    update_speed();
    return speed_.holds() || others_wait();
}

void Preemption::pass() {
    while (!stop_.load()) {
        const auto begin = sys::Clock::now();
        const auto cpu_before = sys::cpu_time();
        slots_.count_missed_deadlines();
        if (const auto next = schedule_.next_to_overtake(urgency_)) {
            overtake_(*next);
        } else if (committer_.is_due()) {
            committer_.commit_drained();
        } else {
            // The time of a hold belongs to this drain, so it is not added to overtaken_.
            if (!speed_.holds()) return;
            hold();
            continue;
        }
        overtaken_ += sys::Clock::now() - begin;
        overtaken_cpu_ += sys::cpu_time() - cpu_before;
    }
}

// Stands still until the pacer has seen a whole step of the simulation without a drain, or more urgent work waits. The
// page shows "nothing moves" for that whole time: a hold that was released and taken again within a step would spoil
// the sample of that step.
void Preemption::hold() {
    const Moving moving(slots_.page(), false);
    while (!stop_.load() && speed_.holds() && !others_wait()) {
        std::this_thread::sleep_for(hold_pause);
        update_speed();
    }
}

}  // namespace forebay::agent
