#include "node/await.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "base/units.hpp"
#include "node/step_clock.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"

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

bool is_of_other_nodes(const std::string& directory, std::uint32_t nodes) {
    const auto staged = staged_files(directory);
    return staged &&
           std::ranges::any_of(*staged, [&](const StagedFile& file) { return file.peek.record.nodes != nodes; });
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
                       std::chrono::milliseconds at_most, Host* host, const Say& say) {
    auto& page = staging.control();
    std::map<std::uint32_t, std::uint32_t> failures_before;
    for (const auto index : slots) failures_before[index] = page.slots[index].failures.load();
    ring(page.bell);
    const Waiting waiting(page);
    Result<> own_result;
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!own_result) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        for (const auto index : slots) {
            const auto& slot = page.slots[index];
            const bool failed = slot.state.load(std::memory_order_acquire) == SlotState::failed &&
                                slot.failures.load() != failures_before[index];
            if (!failed && slot.given_up.load() == 0) continue;
            own_result = error_in(slot.error_kind, slot.error_text);
            return {};
        }
        const auto pending = show_pending(staging, slots);
        if (pending.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        if (host != nullptr) own_result = host->ensure();
        return fmt::format("the agent on {} to commit what is staged in {}: {}", sys::host_name(), staging.directory(),
                           pending);
    };
    if (!wait_together(world, look, at_most, say) && own_result && !show_pending(staging, slots).empty())
        own_result = not_committed(staging, slots, at_most);
    return comm::agree(world, own_result);
}

Result<> await_inherited(const comm::Topology& topology, const Staging& staging, std::chrono::milliseconds at_most,
                         const Say& say) {
    bool waits = false;
    FB_TRY(comm::agree(*topology.world, [&] {
        waits = topology.leads() && (topology.nodes > 1 || is_of_other_nodes(staging.directory(), topology.nodes));
    }));
    const auto& page = staging.control();
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!waits) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        std::vector<std::uint32_t> busy;
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
            const auto state = page.slots[i].state.load(std::memory_order_acquire);
            if (state == SlotState::sealed || state == SlotState::draining || state == SlotState::drained)
                busy.push_back(i);
        }
        if (busy.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        return fmt::format("the agent on {} to drain what an earlier session left in {}: {}", sys::host_name(),
                           staging.directory(), show_pending(staging, busy));
    };
    // What is committed by then is what there is.
    wait_together(*topology.world, look, at_most, say);
    return {};
}

}  // namespace forebay::node
