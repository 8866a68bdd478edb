// Opens a session: the agreement of the ranks, the run and its lock, the node's staging, the agent. The result is a
// SessionState that is ready for calls.
//
// Ranks: every rank opens. The comment of each function below names the ranks that call it.

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

    /// Fills in this rank's part: its options, which the ranks have agreed on, with absolute paths; the run only on the
    /// world's first rank. Local.
    Result<> prepare(const Options& wanted);
    /// Opens, after prepare() on all ranks. After an error it leaves nothing new behind. Collective.
    Result<> open();

private:
    /// Everything after the topology. After an error call give_up(). Collective.
    Result<> start();
    /// Makes the node's staging directory and its agent's host. Collective.
    Result<> open_staging(std::optional<node::LockedDirectory> locked, const std::string& directory,
                          const node::Neighbourhood& neighbours);
    /// Only on the first rank of a machine.
    Result<> drain_leftovers();
    /// Only on the world's first rank.
    void warn_of_step(const std::string& directory) const;
    void give_up();

    SessionState& session_;
    GroupHolder& holder_;
    node::Forwarding forwarding_;  // of this node's agent; only on the node's first rank
};

/// The forwarders for the agent of node `node_index`: `of_job`, or those of the configuration. Only on the node's first
/// rank.
Result<node::Forwarding> find_forwarders(const Options& options, std::uint32_t node_index,
                                         const node::Forwarding& of_job, const node::Say& say);

struct OpenedRun {
    std::shared_ptr<sys::Store> target;
    std::uint64_t run_id = 0;
};
/// Finds the run at its target, or makes it. Only on the world's first rank.
Result<OpenedRun> open_run(const Options& options, const node::Forwarding& forwarding, const node::Say& say);
/// Locks the run for a session that is staged in `directory`. If it fails after it locked the run, `claim.session` is
/// not 0. Only on the world's first rank.
Result<> lock_run(const Options& options, const std::shared_ptr<sys::Store>& target, const std::string& directory,
                  const node::Say& say, LockedRun& claim);

/// Both wait for the end of the session before. Collective. Only the node's first rank gets the locked directory.
Result<std::optional<node::LockedDirectory>> lock_staging(const Options& options, const comm::Topology& topology,
                                                          std::uint64_t run_id, const node::Say& say);
Result<> wait_for_old_agents(const Options& options, const comm::Topology& topology, const std::string& directory,
                             const node::Say& say);

/// Chooses the nodes that write for excluded or slow nodes, in the form that this node's agent needs. Collective.
Result<node::Neighbourhood> find_neighbours(const AgentOptions& agent, const comm::Topology& topology,
                                            const node::Say& say);

/// Starts this rank's threads that copy. Collective.
Result<std::unique_ptr<sys::Crew>> find_crew(const Options& options, const comm::Topology& topology,
                                             const node::Say& say);

/// Prints the sealed snapshots that an earlier session left in the memory of nodes that this session does not have, and
/// the command that commits them. Costs the world's first rank two lists of RUN/forebay and one read for each status
/// line. Does nothing if the run has more than 1,000 status lines. Collective.
void tell_left_in_memory(SessionState& session);

/// Shares FOREBAY_RESTART of the first rank's environment with all ranks. Collective.
Result<std::optional<restart::RestartWish>> share_wish(comm::Group& world);

}  // namespace forebay
