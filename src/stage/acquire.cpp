// How the node's first rank gets a slot for a save: a free one, a waiting one that newest_only replaces, or none.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "node/await.hpp"
#include "node/step_clock.hpp"
#include "stage/stager.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"

namespace forebay::stage {

namespace {

/// The wait of one save for a slot.
class SlotWait {
public:
    /// All of them must outlive it.
    SlotWait(const StagerContext& context, const StreamOptions& options, const StreamSlots& slots, std::int64_t step)
        : context_(context),
          options_(options),
          slots_(slots),
          step_(step),
          deadline_(sys::Clock::now() + options.wait_max),
          long_wait_(options.policy == Policy::wait
                         ? node::LongWait(context.say, context.stall_wait, "while the agent gets nothing done")
                         : node::LongWait(context.say, options.wait_max)),
          progress_(progress()),
          stalls_at_(sys::Clock::now() + context.stall_wait) {}

    /// Sleeps until there is other news than `seen`, or not for long. False where the policy waits no longer; `retry`
    /// when the agent has got nothing done for `stall_wait`.
    Result<bool> turn(std::uint32_t seen) {
        const bool has_deadline = options_.policy == Policy::wait_at_most;
        if (has_deadline ? sys::Clock::now() >= deadline_ : options_.policy != Policy::wait) return false;
        const auto before = std::exchange(progress_, progress());
        if (progress_ != before) stalls_at_ = sys::Clock::now() + context_.stall_wait;
        else if (sys::Clock::now() >= stalls_at_) return stalled();
        const auto end = has_deadline ? std::min(stalls_at_, deadline_) : stalls_at_;
        long_wait_.turn([&] { return show(); });
        auto& page = context_.staging->control();
        const node::Waiting told(page);
        sys::wait_on(page.news, seen, std::min<std::chrono::nanoseconds>(liveness_pause, end - sys::Clock::now()));
        return true;
    }

private:
    // A number that changes whenever the agent gets anything done.
    std::uint64_t progress() const {
        const auto& page = context_.staging->control();
        std::uint64_t sum = page.drains + page.commits + page.aborts;
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
            sum += page.slots[i].drained_bytes.load() + static_cast<std::uint64_t>(page.slots[i].state.load()) +
                   page.slots[i].holds.load();
        return sum;
    }

    std::string held_by() const {
        const auto pending = node::show_pending(*context_.staging, slots_.indices());
        return pending.empty() ? "stations have still to see what they hold" : pending;
    }

    const char* stream() const { return slots_.stream_control().name.data(); }

    Error stalled() const {
        const auto& staging = *context_.staging;
        return {ErrorKind::retry,
                fmt::format(
                    "stream '{}': no slot to save to: {}, and the agent on {} got nothing done for {} s. Does the "
                    "target answer?",
                    stream(), held_by(), sys::host_name(), std::chrono::duration<double>(context_.stall_wait).count()),
                fmt::format("committed snapshots, and what is staged in {}", staging.directory()),
                fmt::format("look at {}/agent.log; a later save tries again", staging.directory())};
    }

    std::string show() const {
        return fmt::format("stream '{}': a slot for step {}: {}, by the agent on {}, in {}", stream(), step_, held_by(),
                           sys::host_name(), context_.staging->directory());
    }

    const StagerContext& context_;
    const StreamOptions& options_;
    const StreamSlots& slots_;
    const std::int64_t step_;
    const sys::Clock::time_point deadline_;
    node::LongWait long_wait_;
    std::uint64_t progress_;
    sys::Clock::time_point stalls_at_;
};

}  // namespace

Result<Stager::Outcome> Stager::acquire() {
    SlotWait wait(context_, options_, slots_, saved_.step);
    for (;;) {
        const auto seen = context_.staging->control().news.load(std::memory_order_acquire);
        FB_TRY(slots_.report_failure());
        if (slots_.take_free()) return Outcome::admitted;
        // A policy that never waits must not leave a dead agent unnoticed either.
        FB_TRY(context_.host->ensure());
        if (options_.policy == Policy::newest_only && slots_.take_waiting(version_, parts_.rows()))
            return Outcome::replacing;
        FB_TRY_ASSIGN(waited, wait.turn(seen));
        if (!waited) return Outcome::skipped;
    }
}

}  // namespace forebay::stage
