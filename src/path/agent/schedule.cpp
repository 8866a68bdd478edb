#include "path/agent/schedule.hpp"

#include <algorithm>
#include <tuple>

namespace forebay::agent {

namespace {

using node::SlotState;

bool is_under_way(SlotState state) {
    return state == SlotState::sealed || state == SlotState::draining || state == SlotState::drained ||
           state == SlotState::failed;
}

}  // namespace

Urgency urgency_of(const node::Control& page, std::uint32_t index) {
    const auto& slot = page.slots[index];
    const auto& stream = page.streams[slot.stream];
    const auto sealed_unix_ns = slot.sealed_unix_ns.load();
    const auto deadline_ns = stream.deadline_ns.load();
    return {stream.priority.load(), deadline_ns == 0 ? never_due : sealed_unix_ns + deadline_ns, sealed_unix_ns,
            slot.step.load()};
}

bool goes_before(const Urgency& urgency, const Urgency& other) {
    if (urgency.priority != other.priority) return urgency.priority > other.priority;
    return std::tie(urgency.due_unix_ns, urgency.sealed_unix_ns, urgency.step) <
           std::tie(other.due_unix_ns, other.sealed_unix_ns, other.step);
}

bool overtakes(const Urgency& urgency, const Urgency& other) {
    if (urgency.priority != other.priority) return urgency.priority > other.priority;
    return urgency.due_unix_ns < other.due_unix_ns;
}

std::uint32_t Schedule::wait_for_work() {
    bell_ = page_.bell.load(std::memory_order_acquire);
    return bell_;
}

template <class May>
std::optional<std::uint32_t> Schedule::most_urgent(const May& may) const {
    std::optional<std::uint32_t> best;
    Urgency best_urgency;
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i) {
        const auto state = page_.slots[i].state.load(std::memory_order_acquire);
        const auto urgency = urgency_of(page_, i);
        if (!may(i, state, urgency) || (best && !goes_before(urgency, best_urgency))) continue;
        best = i;
        best_urgency = urgency;
    }
    return best;
}

std::optional<std::uint32_t> Schedule::next() const {
    return most_urgent([this](std::uint32_t slot, SlotState state, const Urgency&) {
        return state == SlotState::sealed || (state == SlotState::failed && bell_at_failure_[slot] != bell_);
    });
}

std::optional<std::uint32_t> Schedule::next_to_overtake(const Urgency& drained) const {
    return most_urgent([&](std::uint32_t, SlotState state, const Urgency& urgency) {
        return state == SlotState::sealed && overtakes(urgency, drained);
    });
}

std::optional<std::uint32_t> Schedule::next_held(const std::function<std::uint32_t(std::uint32_t)>& at_work) const {
    return most_urgent([&](std::uint32_t slot, SlotState state, const Urgency&) {
        // A slot that was given up is `empty`. Its stations still run.
        const bool after_drain =
            state == SlotState::drained || state == SlotState::committed || state == SlotState::empty;
        return after_drain && (page_.slots[slot].holds.load() & ~at_work(slot)) != 0;
    });
}

std::vector<std::uint32_t> Schedule::waiting_for_peers() const {
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i)
        if (page_.slots[i].state.load(std::memory_order_acquire) == SlotState::drained) slots.push_back(i);
    std::ranges::sort(slots, [&](auto a, auto b) { return goes_before(urgency_of(page_, a), urgency_of(page_, b)); });
    return slots;
}

std::int64_t Schedule::ends_unix_ns(std::uint32_t slot) const {
    const auto needed = page_.slots[slot].needed_unix_ns.load();
    return std::min(urgency_of(page_, slot).due_unix_ns, needed == 0 ? never_due : needed);
}

bool Schedule::misses_deadline(std::uint32_t index, std::int64_t now_unix_ns) const {
    const auto& slot = page_.slots[index];
    // Saves of an earlier session do not count as late.
    if (!is_under_way(slot.state.load(std::memory_order_acquire)) || slot.inherited != 0 || slot.late != 0)
        return false;
    const auto due = urgency_of(page_, index).due_unix_ns;
    return due != never_due && now_unix_ns > due;
}

bool Schedule::any_misses_deadline(std::int64_t now_unix_ns) const {
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i)
        if (misses_deadline(i, now_unix_ns)) return true;
    return false;
}

}  // namespace forebay::agent
