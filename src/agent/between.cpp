#include "agent/between.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "base/units.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

// How often the rate is looked at, and whether a step has ended while a drain is held back.
constexpr std::chrono::milliseconds steer_pause{10}, hold_pause{5};
// During a long drain: whether other nodes have completed what this one drained before, and whether the application
// lives.
constexpr std::chrono::milliseconds look_pause{1000};

bool waits(SlotState state) {
    return state == SlotState::sealed || state == SlotState::draining || state == SlotState::drained ||
           state == SlotState::failed;
}

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

std::optional<std::uint32_t> Agent::most_urgent(const Urgency* than) const {
    std::optional<std::uint32_t> best;
    Urgency best_urgency;
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i) {
        const auto state = page_.slots[i].state.load(std::memory_order_acquire);
        // What has failed is tried again at the next bell, but never stops another drain: it would hold it up for
        // nothing.
        const bool again = than == nullptr && state == SlotState::failed && mine_[i].bell_at_failure != bell_;
        if (state != SlotState::sealed && !again) continue;
        const auto urgency = urgency_of(page_, i);
        if (than != nullptr && !overtakes(urgency, *than)) continue;
        if (best && !goes_before(urgency, best_urgency)) continue;
        best = i;
        best_urgency = urgency;
    }
    return best;
}

bool Agent::commit_drained() {
    commits_looked_at_ = sys::Clock::now();
    std::vector<std::uint32_t> drained;
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i)
        if (page_.slots[i].state.load(std::memory_order_acquire) == SlotState::drained) drained.push_back(i);
    std::ranges::sort(drained, [&](auto a, auto b) { return goes_before(urgency_of(page_, a), urgency_of(page_, b)); });
    bool changed = false;
    for (const auto index : drained) changed |= commit_slot(index);
    return changed;
}

void Agent::overtake(std::uint32_t index, std::uint32_t overtaken, const std::atomic<bool>& stop) {
    auto& slot = page_.slots[index];
    const auto& other = page_.slots[overtaken];
    auto state = SlotState::sealed;
    if (!slot.state.compare_exchange_strong(state, SlotState::draining)) return;
    // Else a failure of this drain would count as one of before the seal, and be tried again at once.
    bell_ = page_.bell.load(std::memory_order_acquire);
    ++page_.overtakes;
    log_(fmt::format("step {} of stream '{}' overtakes step {} of stream '{}', of which {} are written",
                     slot.step.load(), page_.streams[slot.stream].name.data(), other.step.load(),
                     page_.streams[other.stream].name.data(), show_bytes(other.drained_bytes.load())));
    if (drain_slot(index, false, stop)) commit_slot(index);
}

bool Agent::misses_deadline(std::uint32_t index) const {
    const auto& slot = page_.slots[index];
    if (!waits(slot.state.load(std::memory_order_acquire)) || slot.inherited != 0 || slot.late != 0) return false;
    const auto due = urgency_of(page_, index).due_unix_ns;
    return due != never_due && sys::unix_ns() > due;
}

bool Agent::any_misses_deadline() const {
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i)
        if (misses_deadline(i)) return true;
    return false;
}

void Agent::count_missed_deadlines() {
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i) {
        if (!misses_deadline(i)) continue;
        auto& slot = page_.slots[i];
        auto& stream = page_.streams[slot.stream];
        slot.late = 1;
        ++stream.deadlines_missed;
        log_(fmt::format("step {} of stream '{}' misses its deadline, {} after its seal: it is {}", slot.step.load(),
                         stream.name.data(), show_seconds(seconds_of(stream.deadline_ns.load())),
                         name_of(slot.state.load())));
    }
}

// ---- the pace ----

void Agent::take_steps() {
    while (const auto sample = node::next_sample(page_, samples_seen_)) pacer_.take(*sample);
    if (const auto slowdown = pacer_.slowdown_percent()) page_.slowdown_percent = *slowdown;
}

bool Agent::application_computes(sys::Clock::time_point now) {
    if (page_.waiting.load() != 0 || page_.ending.load() != 0) return false;
    if (now - looked_for_application_ >= look_pause) {
        looked_for_application_ = now;
        application_lives_ = staging_.application_lives();
    }
    return application_lives_;
}

// When a drain should have ended: by the deadline, and before its slot is needed again.
std::int64_t Agent::ends_unix_ns(std::uint32_t index) const {
    const auto needed = page_.slots[index].needed_unix_ns.load();
    return std::min(urgency_of(page_, index).due_unix_ns, needed == 0 ? never_due : needed);
}

Pacer::Answer Agent::allowed(std::uint32_t index, sys::Clock::time_point now) {
    if (!application_computes(now)) return {};
    const auto& slot = page_.slots[index];
    const auto done = slot.drained_bytes.load();
    const auto ends = ends_unix_ns(index);
    const auto left_bytes = mine_[index].file_bytes - std::min(mine_[index].file_bytes, done);
    return pacer_.answer({.now_seconds = std::chrono::duration<double>(now.time_since_epoch()).count(),
                          .done_bytes = done,
                          .left_bytes = left_bytes,
                          .seconds_left = ends == never_due ? std::numeric_limits<double>::infinity()
                                                            : seconds_of(ends - sys::unix_ns())});
}

// By any thread of a drain; where one is at it the others need not be.
void Agent::steer(std::uint32_t index) {
    const std::unique_lock alone(steering_, std::try_to_lock);
    if (!alone.owns_lock()) return;
    const auto now = sys::Clock::now();
    if (now - steered_ < steer_pause) return;
    steered_ = now;
    take_steps();
    if (session_.agent.slowdown_percent_max == 0) return;
    const auto answer = allowed(index, now);
    auto rate = session_.agent.rate_bytes_per_second;
    if (const auto steered = static_cast<std::uint64_t>(answer.bytes_per_second); steered != 0)
        rate = rate == 0 ? steered : std::min(rate, steered);
    if (answer.overruled) mine_[index].overruled = true;
    hold_ = answer.hold;
    pace_.set_rate(rate);
    page_.drain_rate_bytes_per_second = rate;
}

// ---- between two pieces ----

bool Agent::Between::others_wait() const {
    if (agent_.most_urgent(&urgency_) || agent_.any_misses_deadline()) return true;
    if (sys::Clock::now() - agent_.commits_looked_at_.load() < look_pause) return false;
    for (std::uint32_t i = 0; i < agent_.page_.slot_count.load(); ++i)
        if (agent_.page_.slots[i].state.load() == SlotState::drained) return true;
    return false;
}

bool Agent::Between::wanted() {
    if (stop_.load()) return false;
    agent_.steer(index_);
    return agent_.hold_ || others_wait();
}

void Agent::Between::pass() {
    while (!stop_.load()) {
        const auto begin = sys::Clock::now();
        agent_.count_missed_deadlines();
        if (const auto next = agent_.most_urgent(&urgency_)) {
            agent_.overtake(*next, index_, stop_);
        } else if (begin - agent_.commits_looked_at_.load() >= look_pause) {
            agent_.commit_drained();
        } else {
            if (!agent_.hold_) return;
            const Moving told(agent_.page_, false);
            // A whole step, without the end and the beginning of a hold within it.
            while (!stop_.load() && agent_.hold_ && !others_wait()) {
                std::this_thread::sleep_for(hold_pause);
                agent_.steer(index_);
            }
            continue;
        }
        overtaken_ += sys::Clock::now() - begin;
    }
}

}  // namespace forebay::agent
