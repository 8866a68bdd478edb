// The opening of a session: what ranks agree on, the run and its claim, the node's staging, the agent. It makes a
// SessionState ready for calls, and ends then.
//
// Ranks: every rank opens. The functions below are its pieces; each names the ranks that call it.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bindings/api/state.hpp"
#include "core/comm/group.hpp"
#include "core/sys/crew.hpp"
#include "path/node/staging.hpp"
#include "path/restart/wish.hpp"

namespace forebay {

class SessionOpening {
public:
    /// Both must outlive it.
    SessionOpening(SessionState& session, GroupHolder& holder) : session_(session), holder_(holder) {}

    /// What this rank wants and has; run and staging of the world's first rank as absolute paths. `wanted` is agreed.
    /// Local.
    Result<> prepare(const Options& wanted);
    /// After prepare() on all ranks. After an error nothing is left behind but what was there. Collective.
    Result<> open();

private:
    /// All but the topology; after an error give_up() follows. Collective.
    Result<> start();
    /// The node's staging directory and its agent's host. Collective.
    Result<> open_staging(std::optional<node::LockedDirectory> locked, const std::string& directory,
                          const node::Neighbourhood& neighbours);
    /// By the first rank of a machine.
    Result<> drain_leftovers();
    void give_up();

    SessionState& session_;
    GroupHolder& holder_;
    node::Forwarding forwarding_;  // of this node's agent; on the node's first rank
};

/// The forwarders of the agent of node `node_index`: `of_job`, or those of the configuration. By its first rank.
Result<node::Forwarding> find_forwarders(const Options& options, std::uint32_t node_index,
                                         const node::Forwarding& of_job, const node::Say& say);

struct OpenedRun {
    std::shared_ptr<sys::Store> target;
    std::uint64_t run_id = 0;
};
/// Finds the run at its target, or makes it. By the world's first rank.
Result<OpenedRun> open_run(const Options& options, const node::Forwarding& forwarding, const node::Say& say);
/// Claims the run for a session that is staged in `directory`. After an error the session in `claim` is not 0 if the
/// run was claimed before it. By the world's first rank.
Result<> lock_run(const Options& options, const std::shared_ptr<sys::Store>& target, const std::string& directory,
                  const node::Say& say, LockedRun& claim);

/// Both wait for what is ending of the session before. Collective; the directory is locked on each node's first rank.
Result<std::optional<node::LockedDirectory>> lock_staging(const Options& options, const comm::Topology& topology,
                                                          std::uint64_t run_id, const node::Say& say);
Result<> wait_for_old_agents(const Options& options, const comm::Topology& topology, const std::string& directory,
                             const node::Say& say);

/// Who of the job writes for its nodes that are excluded or slow, as this node's agent needs to know. Collective.
Result<node::Neighbourhood> find_neighbours(const AgentOptions& agent, const comm::Topology& topology,
                                            const node::Say& say);

/// The threads that copy for this rank. Collective.
Result<std::unique_ptr<sys::Crew>> find_crew(const Options& options, const comm::Topology& topology,
                                             const node::Say& say);

/// The wish that the first rank has in its environment, on all ranks. Collective.
Result<std::optional<restart::RestartWish>> share_wish(comm::Group& world);

}  // namespace forebay
