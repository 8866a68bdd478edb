// Before a session takes over what a dead one has left on its nodes.

#include <fmt/format.h>

#include <numeric>
#include <thread>

#include "api/state.hpp"
#include "stage/await.hpp"

namespace forebay {

namespace {

// What an agent of an earlier session does; nothing when it has left.
std::optional<std::string> show_agent(const std::string& directory) {
    if (!sys::lock_is_held(stage::agent_lock_path(directory))) return {};
    std::string pending;
    if (const auto old = stage::Staging::join(directory)) {
        std::vector<std::uint32_t> slots(old->control().slot_count.load());
        std::iota(slots.begin(), slots.end(), 0u);
        pending = stage::show_pending(*old, slots);
    }
    return fmt::format("the agent of an earlier session on {}, which drains {}: {}", sys::host_name(), directory,
                       pending.empty() ? "nothing is left but to end" : pending);
}

}  // namespace

// An agent of a dead session that still drains has what this one takes over. The node's first rank holds the directory.
Result<> SessionState::wait_for_old_agents(const std::string& directory) {
    const bool waits = topology.leads();
    if (waits) stage::end_agent(directory);
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!waits) return {};
        auto agent = show_agent(directory);
        if (agent) std::this_thread::sleep_for(nap);
        return agent;
    };
    if (stage::wait_together(*topology.world, look, options.close_wait, say_)) return {};
    Result<> mine;
    if (const auto agent = look(std::chrono::milliseconds(0)))
        mine = Error{ErrorKind::retry,
                     fmt::format("forebay: after {} s there still is {}. Safe: what it has staged. Next: look at "
                                 "{}/agent.log, then start again.",
                                 std::chrono::duration<double>(options.close_wait).count(), *agent, directory)};
    return comm::agree(*topology.world, mine);
}

}  // namespace forebay
