// A new session waits on its nodes for the end of the session before, which may have been killed a moment ago, and for
// the end of its agents. All ranks wait together. The first rank writes the log.

#include <fmt/format.h>

#include <numeric>
#include <thread>

#include "bindings/api/session_opening.hpp"
#include "core/base/try.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "path/node/await.hpp"
#include "path/node/watch.hpp"

namespace forebay {

namespace {

// The snapshots that an agent of an earlier session still has to drain.
std::string pending_in(const std::string& directory) {
    const auto old = node::Watch::open(directory);
    if (!old) return "it has another version of Forebay";
    std::vector<std::uint32_t> slots(old->page().slot_count.load());
    std::iota(slots.begin(), slots.end(), 0u);
    return node::show_pending(old->staging(), slots);
}

// Asks the agent to leave, and returns its state; empty after it has left. If all is drained, the agent leaves its
// analyses to the agent of this session: no session waits for analyses.
std::optional<std::string> end_old_agent(const std::string& directory) {
    if (!sys::lock_is_held(node::agent_lock_path(directory))) return {};
    const auto pending = pending_in(directory);
    if (pending.empty()) node::end_agent_after_drains(directory);
    return fmt::format("the agent of an earlier session on {}, which drains {}: {}", sys::host_name(), directory,
                       pending.empty() ? "it is about to end" : pending);
}

}  // namespace

Result<std::optional<node::LockedDirectory>> lock_staging(const Options& options, const comm::Topology& topology,
                                                          std::uint64_t run_id, const node::Say& say) {
    auto& world = *topology.world;
    std::optional<node::LockedDirectory> locked;
    std::optional<node::DirectoryLocking> locking;
    Result<> own_result = comm::agree(world, [&]() -> Result<> {
        if (!topology.leads()) return {};
        FB_TRY_ASSIGN(directory, node::staging_directory(options.staging, options.run, run_id, topology.virtual_index));
        locking.emplace(directory, options.run);
        return {};
    });
    FB_TRY(own_result);
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!locking || locked || !own_result) return {};
        auto outcome = locking->turn();
        if (!outcome) {
            std::this_thread::sleep_for(nap);
            return locking->holder();
        }
        if (*outcome) locked.emplace(std::move(**outcome));
        else own_result = outcome->error();
        return {};
    };
    // The limits of DirectoryLocking are shorter.
    FB_TRY_ASSIGN(in_time, node::wait_together(world, look, 2 * node::ending_holder_max, say, {}, ""));
    if (!in_time && locking && !locked && own_result)
        own_result =
            Error{ErrorKind::retry,
                  fmt::format("after {} s there is still {}", 2 * node::ending_holder_max.count(), locking->holder()),
                  "all snapshots", "start again when it has ended"};
    FB_TRY(comm::agree(world, own_result));
    return locked;
}

// An agent of a dead session that still drains holds snapshots that this session takes over. The node's first rank
// holds the directory.
Result<> wait_for_old_agents(const Options& options, const comm::Topology& topology, const std::string& directory,
                             const node::Say& say) {
    const bool waits = topology.leads();
    if (waits) node::end_agent(directory);
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!waits) return {};
        auto agent = end_old_agent(directory);
        if (agent) std::this_thread::sleep_for(nap);
        return agent;
    };
    FB_TRY_ASSIGN(left, node::wait_together(*topology.world, look, options.close_wait, say));
    if (left) return {};
    Result<> own_result;
    if (const auto agent = look(std::chrono::milliseconds(0)))
        own_result = Error{ErrorKind::retry,
                           fmt::format("after {} s there is still {}",
                                       std::chrono::duration<double>(options.close_wait).count(), *agent),
                           "its staged copies", fmt::format("look at {}/agent.log, then start again", directory)};
    return comm::agree(*topology.world, own_result);
}

}  // namespace forebay
