#include "stage/await.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stage/step_clock.hpp"

namespace forebay::stage {

namespace {

constexpr std::chrono::milliseconds liveness_pause{200};

}  // namespace

Result<> await_commits(Staging& staging, const std::vector<std::uint32_t>& slots, std::chrono::milliseconds at_most,
                       const std::function<Result<>()>& ensure_agent) {
    auto& page = staging.control();
    std::map<std::uint32_t, std::uint32_t> failures_before;
    for (const auto index : slots) failures_before[index] = page.slots[index].failures.load();
    ring(page.bell);
    const Waiting told(page);
    const auto deadline = sys::Clock::now() + at_most;
    for (;;) {
        const auto seen = page.news.load(std::memory_order_acquire);
        std::string waiting;
        for (const auto index : slots) {
            const auto& slot = page.slots[index];
            const auto state = slot.state.load(std::memory_order_acquire);
            if (state == SlotState::empty || state == SlotState::committed) continue;
            if (state == SlotState::failed && slot.failures.load() != failures_before[index])
                return Error{static_cast<ErrorKind>(slot.error_kind), slot.error_text.data()};
            waiting += fmt::format(" step {} is {}, staged in {};", slot.step.load(), name_of(state),
                                   staging.slot_path(index));
        }
        if (waiting.empty()) return {};
        const auto now = sys::Clock::now();
        if (now >= deadline)
            return Error{
                ErrorKind::retry,
                fmt::format(
                    "forebay: not committed after {} s:{} the agent on {} goes on. Next: forebay ls shows when it is "
                    "committed; if the agent ends before, forebay drain {}.",
                    std::chrono::duration<double>(at_most).count(), waiting, sys::host_name(), staging.directory())};
        sys::wait_on(page.news, seen, std::min<std::chrono::nanoseconds>(liveness_pause, deadline - now));
        if (ensure_agent) FB_TRY(ensure_agent());
    }
}

}  // namespace forebay::stage
