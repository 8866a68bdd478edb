#include "path/agent/slots.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/publish.hpp"
#include "path/drain/node_drain.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

bool needs_nothing(SlotState state) {
    return state == SlotState::empty || state == SlotState::committed || state == SlotState::filling;
}

}  // namespace

Slots::Slots(sys::Store& store, node::Staging& staging, const node::SessionFile& session, Schedule& schedule,
             const Tell& tell)
    : store_(store), staging_(staging), page_(staging.control()), session_(session), schedule_(schedule), tell_(tell) {}

Event Slots::event(What what, std::uint32_t slot) {
    return {.what = what, .stream = stream_name(slot), .step = control(slot).step.load(), .slot = slot};
}

Result<> Slots::map(std::uint32_t slot) {
    notes_[slot].mapping = {};
    FB_TRY_ASSIGN(mapped, sys::Mapping::open(path(slot), false));
    notes_[slot].mapping = std::move(mapped);
    return {};
}

bool Slots::put_flagged(std::uint32_t stream, const node::Flagged& flagged) {
    const std::lock_guard lock(raising_);
    return node::put_flagged(page_, stream, flagged);
}

void Slots::set(std::uint32_t slot, SlotState state) {
    // The state comes before the ring: a waiter that wakes sees it.
    control(slot).state.store(state, std::memory_order_release);
    node::ring(page_.news);
}

void Slots::take_over() {
    page_.draining = 0;
    page_.moving = 0;
    for (std::uint32_t i = 0; i < count(); ++i) {
        const auto state = control(i).state.load(std::memory_order_acquire);
        if (state == SlotState::draining || state == SlotState::drained) set(i, SlotState::sealed);
    }
}

bool Slots::take(std::uint32_t slot, SlotState state) {
    if (state != SlotState::sealed && state != SlotState::failed) return false;
    return control(slot).state.compare_exchange_strong(state, SlotState::draining);
}

void Slots::begin_drain(std::uint32_t slot) {
    page_.draining.fetch_add(1);
    node::ring(page_.news);
    ++page_.counts.drains;
    ++drains_begun_;
    notes_[slot].overruled = false;
}

// The target's files can be damaged or missing too. Only a damaged staged copy is worthless.
bool Slots::is_whole(std::uint32_t slot) const {
    return notes_[slot].mapping.mapped() && drain::check_image(image(slot), path(slot));
}

// If the run is moved or removed while the agent writes, any call may fail first, with an error that hides the reason.
std::optional<Error> Slots::run_is_gone() const {
    // A rejected key of a server, or a closed directory, says nothing about the place of the run.
    const auto is_seen = store_.exists(
        fmt::format("{}/{}/{}", session_.run, catalog::own_directory, format::name_of_identity(session_.run_id)));
    if (session_.run_id == 0 || !is_seen || *is_seen) return std::nullopt;
    const auto run = catalog::check_identity(store_, session_.run, session_.run_id);
    if (run || (run.error().kind != ErrorKind::missing && run.error().kind != ErrorKind::refused)) return std::nullopt;
    return with_context(run.error(), run.error().what, "",
                        fmt::format("if the run was moved, move it back to {}, and the next save continues. Or start "
                                    "the simulation again on {} with the new path as its run, which commits the copy. "
                                    "Or forebay drain {} --into NEW-RUN there, before the allocation ends",
                                    session_.run, sys::host_name(), staging_.directory()));
}

void Slots::fail(std::uint32_t index, const Error& cause) {
    const auto gone = cause.kind == ErrorKind::corrupt ? std::nullopt : run_is_gone();
    const auto& error = gone ? *gone : cause;
    auto& slot = control(index);
    ++page_.counts.aborts;
    end_drain();
    const bool torn = (error.kind == ErrorKind::corrupt || error.kind == ErrorKind::missing) && !is_whole(index);
    const auto failed = with_context(
        error,
        fmt::format("step {} of stream '{}' is NOT committed: {}", slot.step.load(), stream_name(index), error.what),
        "committed snapshots" +
            (torn ? std::string() : fmt::format(", and the staged copy on {}, {}", sys::host_name(), path(index))),
        torn   ? std::string("save again, and check the memory of this node")
        : gone ? gone->next
               : fmt::format("{}start the simulation again on {}, which commits the copy. Or forebay drain {} there, "
                             "before the allocation ends",
                             error.kind == ErrorKind::full ? "free some room, then " : "", sys::host_name(),
                             staging_.directory()));
    auto failure = event(What::failed, index);
    failure.detail = failed.line();
    tell_(failure);
    // Damaged bytes cannot become right by another try: reported once, then given up.
    if (torn && std::exchange(notes_[index].torn, slot.snapshot_id.load()) == slot.snapshot_id.load()) {
        slot.given_up = 1;
        set(index, SlotState::empty);
        return;
    }
    schedule_.failed(index);
    // The error comes before the state: a reader that sees `failed` finds the text.
    slot.error_kind = static_cast<std::uint32_t>(error.kind);
    node::set_error(slot.error_text, failed);
    slot.failures.fetch_add(1);
    set(index, SlotState::failed);
}

// For exceptions between drains, which belong to no slot.
void Slots::give_up(const Error& error) {
    page_.draining = 0;
    for (std::uint32_t i = 0; i < count(); ++i) {
        auto& slot = control(i);
        auto state = slot.state.load();
        if (needs_nothing(state)) continue;
        const auto is_set = attempt([&] {
            node::set_error(
                slot.error_text,
                with_context(error, fmt::format("step {} of stream '{}' is NOT committed. {} It is staged in {}.",
                                                slot.step.load(), stream_name(i), error.what, path(i))));
        });
        slot.error_kind = static_cast<std::uint32_t>(error.kind);
        if (!is_set) node::set_error(slot.error_text, error);
        slot.failures.fetch_add(1);
        // newest_only may take a sealed slot back at this moment.
        if (slot.state.compare_exchange_strong(state, SlotState::failed)) node::ring(page_.news);
    }
}

// A new agent may find a committed snapshot in a slot: an agent of the dead session committed it later. An agent may
// also have failed after its node file had its name. Another drain would cost the whole volume and leave a part that
// nobody commits.
Result<bool> Slots::is_committed(std::uint32_t slot) const {
    FB_TRY_ASSIGN(peeked, peek(slot));
    const std::string stream = page_.streams[page_.slots[slot].stream].name.data();
    FB_TRY_ASSIGN(committed, commit::find_committed(store_, {session_.run, stream, peeked.record.step},
                                                    peeked.record.which_save()));
    return committed.has_value();
}

bool Slots::unfinished() const {
    for (std::uint32_t i = 0; i < count(); ++i)
        if (!needs_nothing(page_.slots[i].state.load()) || page_.slots[i].holds.load() != 0) return true;
    return false;
}

bool Slots::waits_for_peers() const {
    for (std::uint32_t i = 0; i < count(); ++i)
        if (page_.slots[i].state.load() == SlotState::drained) return true;
    return false;
}

bool Slots::misses_any() const {
    for (std::uint32_t i = 0; i < count(); ++i)
        if (page_.slots[i].state.load() == SlotState::drained && notes_[i].absent_since) return true;
    return false;
}

void Slots::count_missed_deadlines() {
    for (std::uint32_t i = 0; i < count(); ++i) {
        const auto now = sys::unix_ns();
        if (!schedule_.misses_deadline(i, now)) continue;
        auto& slot = control(i);
        slot.late = 1;
        ++stream(i).counts.deadlines_missed;
        auto late = event(What::late, i);
        late.seconds = static_cast<double>(stream(i).deadline_ns.load()) * 1e-9;
        late.detail = name_of(slot.state.load());
        tell_(late);
    }
}

void Slots::check_counts() const {
    const auto waiting = schedule_.waiting_for_peers().size();
    if (drains_begun_ == drains_ended_ + waiting) return;
    tell_({.what = What::miscounted,
           .detail = fmt::format("{} drains were begun, {} ended and {} wait for other nodes", drains_begun_,
                                 drains_ended_, waiting)});
}

}  // namespace forebay::agent
