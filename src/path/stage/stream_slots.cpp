#include "path/stage/stream_slots.hpp"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "core/sys/clock.hpp"
#include "path/node/timing_ring.hpp"

namespace forebay::stage {

void StreamSlots::find(std::uint32_t stream, std::uint32_t count) {
    stream_ = stream;
    for (const auto index : staging_.slots_of(stream))
        if (staging_.control().slots[index].number < count) indices_.push_back(index);
    slots_.resize(indices_.size());
    failures_told_.resize(indices_.size());
    decisions_ = stream_control().decisions.load();
}

Result<> StreamSlots::report_failure() {
    for (std::size_t i = 0; i < count(); ++i) {
        auto& slot = control(i);
        const bool failed =
            slot.state.load(std::memory_order_acquire) == node::SlotState::failed || slot.given_up.load() != 0;
        if (!failed) continue;
        node::ring(staging_.control().bell);  // the agent tries again while the application decides
        if (slot.failures.load() == failures_told_[i]) continue;
        failures_told_[i] = slot.failures.load();
        return node::error_in(slot.error_kind, slot.error_text);
    }
    return {};
}

void StreamSlots::forget_failures() {
    for (std::size_t i = 0; i < count(); ++i) failures_told_[i] = control(i).failures.load();
}

// Prefers a slot that is not being analysed or was at least read. A snapshot loses its analyses only if no other slot
// is free.
bool StreamSlots::take_free() {
    const auto cost_of = [&](std::size_t i) {
        const auto holds = control(i).holds.load();
        const bool is_read = (holds & node::lease_holds) == (node::lease_hold | node::lease_read);
        const bool is_leased = (holds & (node::lease_hold | node::script_lease_hold)) != 0;
        return std::tuple(is_leased && !is_read, is_leased, control(i).step.load());
    };
    std::size_t best = count();
    for (std::size_t i = 0; i < count(); ++i)
        if (node::is_free(control(i)) && (best == count() || cost_of(i) < cost_of(best))) best = i;
    if (best == count()) return false;
    current_ = best;
    state_before_ = control(best).state.exchange(node::SlotState::filling);
    node::take_leases(staging_.control(), control(best));
    return true;
}

// With two slots, only if both wait, and then the older slot: after a kill before the new seal, a whole snapshot must
// remain that is no older than the lost snapshot.
bool StreamSlots::take_waiting(std::uint64_t version, std::span<const std::uint64_t> rows) {
    std::size_t oldest = 0;
    for (std::size_t i = 0; i < count(); ++i) {
        if (control(i).state.load(std::memory_order_acquire) != node::SlotState::sealed) return false;
        if (slots_[i].sealed_save() < slots_[oldest].sealed_save()) oldest = i;
    }
    // A slot that needs a new layout would lose its save before all nodes have agreed to replace it.
    if (!slots_[oldest].fits(version) || !slots_[oldest].change_rows(rows)) return false;
    // The agent may begin to drain the slot at this moment; then the exchange fails.
    auto waiting = node::SlotState::sealed;
    if (!control(oldest).state.compare_exchange_strong(waiting, node::SlotState::filling)) return false;
    current_ = oldest;
    state_before_ = node::SlotState::sealed;
    return true;
}

std::int64_t StreamSlots::replaced_step() const {
    return state_before_ == node::SlotState::sealed ? control(current_).step.load() : -1;
}

void StreamSlots::replace() {
    // A killed agent may leave a lease on a slot that the next agent drains again.
    node::take_leases(staging_.control(), control(current_));
    current().invalidate();
    state_before_ = node::SlotState::empty;
}

void StreamSlots::give_back() {
    const auto before = std::exchange(state_before_, {});
    if (!before) return;
    // The slot was free or held a waiting save. A save that newest_only replaces stays whole until all ranks have
    // agreed, so its slot goes back to the agent as sealed.
    control(current_).state.store(*before == node::SlotState::sealed ? node::SlotState::sealed : node::SlotState::empty,
                                  std::memory_order_release);
    node::ring(staging_.control().bell);
}

void StreamSlots::hand_over(const format::Record& record, std::int64_t needed_unix_ns) {
    auto& slot = control(current_);
    slot.step = record.step;
    slot.snapshot_id = record.snapshot_id;
    slot.inherited = 0;
    slot.late = 0;
    slot.given_up = 0;
    slot.sealed_unix_ns = record.sealed_unix_ns;
    slot.sealed_steady_ns = node::steady_ns(sys::Clock::now());
    slot.file_bytes = current().layout().file_bytes;
    slot.needed_unix_ns = needed_unix_ns;
    // The state comes last: an agent that sees it finds all members above.
    slot.state.store(node::SlotState::sealed, std::memory_order_release);
    state_before_.reset();
    node::ring(staging_.control().bell);
}

void StreamSlots::tell(Outcome outcome, std::chrono::nanoseconds waited) {
    auto& shared = stream_control();
    shared.outcome = static_cast<std::uint32_t>(outcome);
    shared.slot = static_cast<std::uint32_t>(current_);
    shared.wait_ns = static_cast<std::uint64_t>(waited.count());
    node::ring(shared.decisions);
    ++decisions_;
}

Result<StreamSlots::Decision> StreamSlots::follow() {
    auto& shared = stream_control();
    while (shared.decisions.load(std::memory_order_acquire) == decisions_) {
        sys::wait_on(shared.decisions, decisions_, liveness_pause);
        // Without this check a rank would wait forever for a first rank that was killed.
        if (shared.decisions.load() == decisions_ && !staging_.application_lives())
            return Error{ErrorKind::broken,
                         fmt::format("stream '{}': the first rank of this node has ended", shared.name.data()),
                         fmt::format("committed snapshots and {}", staging_.directory())};
    }
    ++decisions_;
    current_ = shared.slot;
    return Decision{static_cast<Outcome>(shared.outcome), std::chrono::nanoseconds(shared.wait_ns)};
}

}  // namespace forebay::stage
