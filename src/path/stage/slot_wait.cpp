#include "path/stage/slot_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sys/machine.hpp"
#include "path/node/await.hpp"
#include "path/node/step_clock.hpp"

namespace forebay::stage {

SlotWait::SlotWait(const StagerContext& context, const StreamOptions& options, const StreamSlots& slots,
                   std::int64_t step)
    : context_(context),
      options_(options),
      slots_(slots),
      step_(step),
      began_(sys::Clock::now()),
      deadline_(began_ + options.wait_max),
      long_wait_(options.policy == Policy::wait
                     ? node::LongWait(context.say, context.stall_wait, "without progress of the agent")
                     : node::LongWait(context.say, options.wait_max)),
      progress_(progress()),
      stalls_at_(began_ + context.stall_wait),
      asks_at_(context.topology->nodes > 1 ? began_ + ask_others_every : sys::Clock::time_point::max()) {}

Result<SlotWait::Turn> SlotWait::turn(std::uint32_t seen) {
    const bool has_deadline = options_.policy == Policy::wait_at_most;
    const auto now = sys::Clock::now();
    if (has_deadline ? now >= deadline_ : options_.policy != Policy::wait) return Turn::no_longer;
    const auto before = std::exchange(progress_, progress());
    if (progress_ != before) stalls_at_ = now + context_.stall_wait;
    else if (now >= stalls_at_) return stalled();
    if (now >= asks_at_) return Turn::ask_others;
    if (long_wait_.is_interrupted(now)) return interrupted();
    const auto end = std::min({stalls_at_, asks_at_, has_deadline ? deadline_ : stalls_at_});
    long_wait_.turn([&] { return show(); });
    auto& page = context_.staging->control();
    // Nothing computes now, so the agent may drain at full speed.
    const node::Waiting waiting(page);
    sys::wait_on(page.news, seen, std::min<std::chrono::nanoseconds>(liveness_pause, end - sys::Clock::now()));
    return Turn::look_again;
}

// A number that changes with any progress of the agent.
std::uint64_t SlotWait::progress() const {
    const auto& page = context_.staging->control();
    std::uint64_t sum = page.counts.drains + page.counts.commits + page.counts.aborts;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
        sum += page.slots[i].drained_bytes.load() + static_cast<std::uint64_t>(page.slots[i].state.load()) +
               page.slots[i].holds.load();
    return sum;
}

std::string SlotWait::held_by() const {
    const auto pending = node::show_pending(*context_.staging, slots_.indices());
    return pending.empty() ? "analyses still read their snapshots" : pending;
}

Error SlotWait::stalled() const {
    const auto& staging = *context_.staging;
    return {
        ErrorKind::retry,
        fmt::format("stream '{}': no slot to save to: {}, and the agent on {} made no progress for {} s. Does the "
                    "target answer?",
                    stream(), held_by(), sys::host_name(), std::chrono::duration<double>(context_.stall_wait).count()),
        fmt::format("committed snapshots, and the staged copies in {}", staging.directory()),
        fmt::format("look at {}/agent.log. A later save tries again", staging.directory())};
}

Error SlotWait::interrupted() const {
    return with_context(node::interrupted(""),
                        fmt::format("interrupted: the wait of stream '{}' for a slot for step {}", stream(), step_),
                        fmt::format("committed snapshots, and the staged copies in {}", context_.staging->directory()));
}

std::string SlotWait::show() const {
    return fmt::format("stream '{}': a slot for step {}: {}, by the agent on {}, in {}", stream(), step_, held_by(),
                       sys::host_name(), context_.staging->directory());
}

}  // namespace forebay::stage
