// Gets a slot for a save. The node's first rank takes a free slot, or a waiting slot that newest_only replaces, or
// none. Then all ranks agree on the result.
//
// A node that has its slot, or has failed, enters the agreement that ends every save: one maximum over the world. It
// waits there for the other nodes. A node that has waited ask_others_every for its slot enters undecided. Then all
// nodes repeat the maximum while no node has failed. Example: with slots after 0 s, 1 s and 5 s there are maxima at 2
// s, 4 s and 5 s. If a node fails after 1 s, every save ends after 2 s with that node's error.

#include <chrono>
#include <limits>
#include <optional>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "path/stage/slot_wait.hpp"
#include "path/stage/stager.hpp"

namespace forebay::stage {

namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

}  // namespace

Result<Stager::Outcome> Stager::acquire(SlotWait& wait) {
    for (;;) {
        // Read before the slots, so that a change after the look ends the wait at once.
        const auto seen = context_.staging->control().news.load(std::memory_order_acquire);
        FB_TRY(slots_.report_failure());
        if (slots_.take_free()) return Outcome::admitted;
        // A policy that never waits must also notice a dead agent.
        FB_TRY(context_.host->ensure());
        if (options_.policy == Policy::newest_only && slots_.take_waiting(description_.version(), description_.rows()))
            return Outcome::replacing;
        FB_TRY_ASSIGN(turn, wait.turn(seen));
        if (turn == SlotWait::Turn::no_longer) return Outcome::skipped;
        if (turn == SlotWait::Turn::ask_others) return Outcome::undecided;
    }
}

Result<Stager::Outcome> Stager::admit(const Schema& schema, SlotWait& wait) {
    auto outcome = attempt([&] { return acquire(wait); });
    const auto waited = wait.waited();
    saved_.wait_seconds = std::chrono::duration<double>(waited).count();
    clock_.lap(format::TimingKind::wait);
    if (outcome && *outcome == Outcome::admitted) {
        const auto start = sys::Clock::now();
        if (const auto fitted = attempt([&] { return fit_current(schema); }); !fitted) outcome = fitted.error();
        // From here on a kill leaves no valid record, and so no half snapshot.
        if (outcome) slots_.current().invalidate();
        const auto layout = sys::Clock::now() - start;
        saved_.plan_seconds += std::chrono::duration<double>(layout).count();
        clock_.lap(format::TimingKind::plan);
        if (context_.timings != nullptr) context_.timings->tell_layout(layout);
    }
    // Also after an error: the node's other ranks wait for the decision.
    slots_.tell(outcome ? *outcome : Outcome::failed, waited);
    return outcome;
}

Result<Stager::Outcome> Stager::follow(const Schema& schema) {
    FB_TRY_ASSIGN(decision, slots_.follow());
    // Only the node's first rank knows its times for waiting and for the layout. This rank waited for it before.
    saved_.wait_seconds = std::chrono::duration<double>(decision.waited).count();
    const bool lays_out = decision.outcome == Outcome::admitted && context_.timings != nullptr;
    clock_.lap(format::TimingKind::agree,
               {{format::TimingKind::wait, decision.waited},
                {format::TimingKind::plan, lays_out ? context_.timings->told_layout() : std::chrono::nanoseconds(0)}});
    if (decision.outcome == Outcome::admitted) FB_TRY(fit_current(schema));
    if (decision.outcome == Outcome::replacing) FB_TRY(slots_.current().change_rows(description_.rows()));
    clock_.lap(format::TimingKind::plan);
    return decision.outcome;
}

Result<Stager::Agreed> Stager::acquire_together(const Schema& schema) {
    auto& topology = *context_.topology;
    const bool leads = topology.leads();
    auto* places = description_.places();
    std::optional<SlotWait> wait;
    if (leads) wait.emplace(context_, options_, slots_, saved_.step);
    auto own = Outcome::undecided;
    Result<> own_outcome;
    bool must_plan = false;
    std::chrono::nanoseconds others_waited{0};  // for their slots, while this node had its own
    for (;;) {
        // A decided node only repeats the maximum.
        if (own == Outcome::undecided) {
            const auto decided = attempt([&] { return leads ? admit(schema, *wait) : follow(schema); });
            own = decided ? *decided : Outcome::failed;
            own_outcome = decided ? Result<>() : decided.error();
            if (places && own_outcome && (own == Outcome::admitted || own == Outcome::replacing))
                own_outcome = attempt([&] { must_plan = places->must_plan(slots_.current().layout()); });
        }
        // Only a node's first rank knows the replaced step, so the other ranks send `nothing`.
        const auto replaced = slots_.replaced_step();
        const std::int64_t open = own == Outcome::skipped ? 2 : own == Outcome::undecided ? 1 : 0;
        const auto own_wait =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(saved_.wait_seconds));
        std::int64_t flags[] = {own_outcome ? 0 : 1,        open,
                                leads ? replaced : nothing, leads ? -replaced : nothing,
                                must_plan ? 1 : 0,          own_wait.count()};
        clock_.lap(format::TimingKind::plan);
        topology.world->max(flags);
        others_waited +=
            clock_.lap(format::TimingKind::agree,
                       {{format::TimingKind::wait, std::chrono::nanoseconds(flags[5]) - own_wait - others_waited}});
        if (flags[0] != 0) return comm::agree(*topology.world, own_outcome).error();
        // If nodes replaced different steps, or only some nodes a step, the parts could never be committed.
        if (flags[1] != 1)
            return Agreed{.own = own,
                          .keeps = flags[1] == 0 && flags[2] == -flags[3],
                          .must_plan = flags[4] != 0,
                          .replaced = flags[2]};
        if (wait) wait->go_on();
    }
}

}  // namespace forebay::stage
