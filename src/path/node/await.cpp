#include "path/node/await.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/node/step_clock.hpp"

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
            fmt::format("not committed after {} s:{} the agent on {} continues",
                        std::chrono::duration<double>(waited).count(), waiting, sys::host_name()),
            "",
            fmt::format("forebay ls shows when it is committed. If the agent ends before: forebay drain {}",
                        staging.directory())};
}

/// Saves that can never be committed, because a node failed to drain its part or has no agent. All ranks know them.
class LostSaves {
public:
    LostSaves(const Control& page, const std::vector<std::uint32_t>& slots) : page_(page), slots_(slots) {}

    /// Looks at this node's slots. Without `has_agent` all pending slots are lost.
    void look(const std::map<std::uint32_t, std::uint32_t>& failures_before, bool has_agent) {
        own_.clear();
        for (const auto index : slots_) {
            const auto& slot = page_.slots[index];
            const auto state = slot.state.load(std::memory_order_acquire);
            if (has_failed(slot, failures_before.at(index)) || (!has_agent && is_pending(state)))
                own_.push_back(slot.snapshot_id.load());
        }
    }
    static bool has_failed(const SlotControl& slot, std::uint32_t failures_before) {
        return slot.given_up.load() != 0 || (slot.state.load(std::memory_order_acquire) == SlotState::failed &&
                                             slot.failures.load() != failures_before);
    }
    /// The slots for which waiting makes sense.
    std::vector<std::uint32_t> hopeful() const {
        std::vector<std::uint32_t> rest;
        for (const auto index : slots_) {
            const auto& slot = page_.slots[index];
            // Drained here and lost elsewhere: its commit never comes.
            const bool is_done_here = slot.state.load(std::memory_order_acquire) == SlotState::drained;
            if (!is_done_here || !all_.contains(slot.snapshot_id.load())) rest.push_back(index);
        }
        return rest;
    }

    std::string told() const {
        std::string text;
        for (const auto id : own_)
            if (!all_.contains(id)) text += fmt::format("{} ", id);
        return text;
    }
    void hear(const std::string& text) {
        const char* const end = text.data() + text.size();
        std::uint64_t id = 0;
        for (const char* at = text.data(); at != end; ++at) {
            at = std::from_chars(at, end, id).ptr;
            all_.insert(id);
        }
    }

private:
    const Control& page_;
    const std::vector<std::uint32_t>& slots_;
    std::vector<std::uint64_t> own_;
    std::set<std::uint64_t> all_;
};

/// The inherited slots that the agent must still drain. If a slot failed before, it rings the bell once more; also if
/// the bytes look damaged, because the agent gives such a slot up at the second try.
class InheritedSlots {
public:
    explicit InheritedSlots(Control& page) : page_(page) {
        for (std::uint32_t i = 0; i < slots_max; ++i) failures_before_[i] = page.slots[i].failures.load();
        rung_at_.fill(no_failures);
    }
    std::vector<std::uint32_t> busy() {
        std::vector<std::uint32_t> slots;
        for (std::uint32_t i = 0; i < page_.slot_count.load(); ++i) {
            const auto state = page_.slots[i].state.load(std::memory_order_acquire);
            // A slot that is `filling` is this session's.
            if (state == SlotState::failed ? is_tried_again(i) : is_pending(state) && state != SlotState::filling)
                slots.push_back(i);
        }
        return slots;
    }

private:
    static constexpr std::uint32_t no_failures = ~0u;

    bool is_tried_again(std::uint32_t index) {
        const auto& slot = page_.slots[index];
        if (slot.inherited.load() == 0) return false;
        const auto failures = slot.failures.load(), tries = failures - failures_before_[index];
        const auto kind = static_cast<ErrorKind>(slot.error_kind);
        const bool looks_damaged = kind == ErrorKind::corrupt || kind == ErrorKind::missing;
        if (tries > (looks_damaged ? 1u : 0u)) return false;
        if (std::exchange(rung_at_[index], failures) != failures) ring(page_.bell);
        return true;
    }

    Control& page_;
    std::array<std::uint32_t, slots_max> failures_before_{}, rung_at_{};
};

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
    // An agent tries a failed drain again at the next bell, so only failures after this bell count.
    std::map<std::uint32_t, std::uint32_t> failures_before;
    for (const auto index : slots) failures_before[index] = page.slots[index].failures.load();
    ring(page.bell);
    // Nothing computes now, so the agent may drain at full speed.
    const Waiting waiting(page);
    Result<> own_result;
    bool has_agent = true;
    LostSaves lost(page, slots);
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        lost.look(failures_before, has_agent);
        if (!own_result) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        for (const auto index : slots) {
            const auto& slot = page.slots[index];
            if (!LostSaves::has_failed(slot, failures_before[index])) continue;
            own_result = error_in(slot.error_kind, slot.error_text);
            return {};
        }
        // `news` was read before the slots, so a change after this look ends the sleep below at once.
        const auto pending = show_pending(staging, lost.hopeful());
        if (pending.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        if (host != nullptr) own_result = host->ensure();
        has_agent = own_result.has_value();
        return fmt::format("the agent on {} to commit the staged copies in {}: {}", sys::host_name(),
                           staging.directory(), pending);
    };
    const Telling telling{[&] { return lost.told(); }, [&](const std::string& text) { lost.hear(text); }};
    const auto waited = wait_together(world, look, at_most, say, telling);
    if (!waited)
        return with_context(waited.error(), waited.error().what + ". The staged copies are not committed yet",
                            "the staged copies, which the agents still commit");
    if (!*waited && own_result && !show_pending(staging, slots).empty())
        own_result = not_committed(staging, slots, at_most);
    return comm::agree(world, own_result);
}

Result<> await_inherited(const comm::Topology& topology, Staging& staging, std::chrono::milliseconds at_most,
                         Host* host, const Say& say) {
    bool waits = false;
    FB_TRY(comm::agree(*topology.world, [&] {
        waits = topology.leads() && (topology.nodes > 1 || is_of_other_nodes(staging.directory(), topology.nodes));
    }));
    auto& page = staging.control();
    InheritedSlots slots(page);
    Result<> own_result;
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!waits) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        const auto busy = slots.busy();
        if (busy.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        if (host != nullptr) own_result = host->ensure();
        waits = own_result.has_value();
        return fmt::format("the agent on {} to drain the copies of an earlier session in {}: {}", sys::host_name(),
                           staging.directory(), show_pending(staging, busy));
    };
    // A timeout is no error: the restart uses the snapshots committed by then.
    FB_TRY(wait_together(*topology.world, look, at_most, say));
    return comm::agree(*topology.world, own_result);
}

}  // namespace forebay::node
