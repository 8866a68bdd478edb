#include "node/await.hpp"

#include <fmt/format.h>

#include <map>

#include "base/units.hpp"
#include "node/step_clock.hpp"

namespace forebay::node {

namespace {

bool is_pending(SlotState state) { return state != SlotState::empty && state != SlotState::committed; }

Error not_committed(const Staging& staging, const std::vector<std::uint32_t>& slots, std::chrono::milliseconds waited) {
    std::string waiting;
    for (const auto index : slots) {
        const auto& slot = staging.control().slots[index];
        const auto state = slot.state.load(std::memory_order_acquire);
        if (is_pending(state))
            waiting += fmt::format(" step {} is {}, staged in {};", slot.step.load(), name_of(state),
                                   staging.slot_path(index));
    }
    return {ErrorKind::retry,
            fmt::format("not committed after {} s:{} the agent on {} goes on",
                        std::chrono::duration<double>(waited).count(), waiting, sys::host_name()),
            "",
            fmt::format("forebay ls shows when it is committed; if the agent ends before, forebay drain {}",
                        staging.directory())};
}

}  // namespace

std::string show_pending(const Staging& staging, const std::vector<std::uint32_t>& slots) {
    std::string text;
    for (const auto index : slots) {
        const auto& slot = staging.control().slots[index];
        const auto state = slot.state.load(std::memory_order_acquire);
        if (!is_pending(state)) continue;
        text += fmt::format("{}step {} is {}", text.empty() ? "" : ", ", slot.step.load(), name_of(state));
        if (state == SlotState::draining) text += fmt::format(" ({} so far)", show_bytes(slot.drained_bytes.load()));
    }
    return text;
}

Result<> await_commits(comm::Group& world, Staging& staging, const std::vector<std::uint32_t>& slots,
                       std::chrono::milliseconds at_most, const std::function<Result<>()>& ensure_agent,
                       const Say& say) {
    auto& page = staging.control();
    std::map<std::uint32_t, std::uint32_t> failures_before;
    for (const auto index : slots) failures_before[index] = page.slots[index].failures.load();
    ring(page.bell);
    const Waiting told(page);
    Result<> mine;
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!mine) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        for (const auto index : slots) {
            const auto& slot = page.slots[index];
            const bool failed = slot.state.load(std::memory_order_acquire) == SlotState::failed &&
                                slot.failures.load() != failures_before[index];
            if (!failed && slot.given_up.load() == 0) continue;
            mine = error_in(slot.error_kind, slot.error_text);
            return {};
        }
        const auto pending = show_pending(staging, slots);
        if (pending.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        if (ensure_agent) mine = ensure_agent();
        return fmt::format("the agent on {} to commit what is staged in {}: {}", sys::host_name(), staging.directory(),
                           pending);
    };
    if (!wait_together(world, look, at_most, say) && mine && !show_pending(staging, slots).empty())
        mine = not_committed(staging, slots, at_most);
    return comm::agree(world, mine);
}

}  // namespace forebay::node
