// How the node's first rank gets a slot for a save: a free one, a waiting one that newest_only replaces, or none.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.hpp"
#include "node/await.hpp"
#include "node/step_clock.hpp"
#include "stage/stager.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"

namespace forebay::stage {

Result<> Stager::report_failure() {
    for (std::size_t i = 0; i < indices_.size(); ++i) {
        auto& slot = control(i);
        const bool failed =
            slot.state.load(std::memory_order_acquire) == node::SlotState::failed || slot.given_up.load() != 0;
        if (!failed) continue;
        node::ring(context_.staging->control().bell);  // the agent tries again while the application decides
        if (slot.failures.load() == reported_[i]) continue;
        reported_[i] = slot.failures.load();
        return node::error_in(slot.error_kind, slot.error_text);
    }
    return {};
}

// Takes a snapshot back that the agent has not begun to drain, on any node. Of two slots only where both wait, and then
// the older one: a kill before the new snapshot is sealed must find one that is whole and no older than what is lost.
bool Stager::take_waiting() {
    std::size_t oldest = 0;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
        if (control(i).state.load(std::memory_order_acquire) != node::SlotState::sealed) return false;
        if (saved_as_[i] < saved_as_[oldest]) oldest = i;
    }
    // One that needs a new layout would lose what it holds before all nodes have agreed to replace it.
    if (!slots_[oldest].fits(version_) || !slots_[oldest].change_rows(rows_)) return false;
    auto waiting = node::SlotState::sealed;
    if (!control(oldest).state.compare_exchange_strong(waiting, node::SlotState::filling)) return false;
    current_ = oldest;
    previous_ = node::SlotState::sealed;
    holds_slot_ = true;
    replaced_ = control(oldest).step.load();
    return true;
}

// A number that changes whenever the agent gets anything done.
std::uint64_t Stager::progress() {
    const auto& page = context_.staging->control();
    std::uint64_t sum = page.drains + page.commits + page.aborts;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
        sum += page.slots[i].drained_bytes.load() + static_cast<std::uint64_t>(page.slots[i].state.load()) +
               page.slots[i].holds.load();
    return sum;
}

Error Stager::stalled() {
    return {ErrorKind::retry,
            fmt::format("stream '{}': no slot to save to: {}, and the agent on {} got nothing done for {} s. Does the "
                        "target answer?",
                        stream_, node::show_pending(*context_.staging, indices_), sys::host_name(),
                        std::chrono::duration<double>(context_.stall_wait).count()),
            fmt::format("committed snapshots, and what is staged in {}", context_.staging->directory()),
            fmt::format("look at {}/agent.log; a later save tries again", context_.staging->directory())};
}

std::string Stager::show_wait() const {
    return fmt::format("stream '{}': a slot for step {}: {}, by the agent on {}, in {}", stream_, saved_.step,
                       node::show_pending(*context_.staging, indices_), sys::host_name(),
                       context_.staging->directory());
}

Result<Stager::Outcome> Stager::acquire() {
    auto& news = context_.staging->control().news;
    const auto deadline = sys::Clock::now() + options_.wait_max;
    node::LongWait wait = options_.policy == Policy::wait
                              ? node::LongWait(context_.say, context_.stall_wait, "while the agent gets nothing done")
                              : node::LongWait(context_.say, options_.wait_max);
    auto before = progress();
    auto stalls_at = sys::Clock::now() + context_.stall_wait;
    for (;;) {
        const auto seen = news.load(std::memory_order_acquire);
        FB_TRY(report_failure());
        std::size_t best = indices_.size();
        for (std::size_t i = 0; i < indices_.size(); ++i) {
            if (!node::is_free(control(i))) continue;
            if (best == indices_.size() || control(i).step.load() < control(best).step.load()) best = i;
        }
        if (best < indices_.size()) {
            current_ = best;
            previous_ = control(best).state.exchange(node::SlotState::filling);
            holds_slot_ = true;
            return Outcome::admitted;
        }
        // A policy that never waits must not leave a dead agent unnoticed either.
        FB_TRY(context_.host->ensure());
        if (options_.policy == Policy::newest_only && take_waiting()) return Outcome::replacing;
        const bool waits = options_.policy == Policy::wait ||
                           (options_.policy == Policy::wait_at_most && sys::Clock::now() < deadline);
        if (!waits) return Outcome::skipped;
        const auto now = progress();
        if (now != before) stalls_at = sys::Clock::now() + context_.stall_wait;
        else if (sys::Clock::now() >= stalls_at) return stalled();
        before = now;
        const auto end = options_.policy == Policy::wait ? stalls_at : std::min(stalls_at, deadline);
        wait.turn([&] { return show_wait(); });
        const node::Waiting told(context_.staging->control());
        sys::wait_on(news, seen, std::min<std::chrono::nanoseconds>(liveness_pause, end - sys::Clock::now()));
    }
}

}  // namespace forebay::stage
