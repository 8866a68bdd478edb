// What an agent does with the neighbours of its job: helps them, goes through one since its node is excluded, or goes
// through one as long as its node is slow. Nothing, where the job has none.
// Threads: hear() and stay() by that of the agent's loop.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "path/agent/detour.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/neighbours.hpp"
#include "path/agent/prober.hpp"
#include "path/agent/slow_node.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

class NeighbourSide {
public:
    /// `store` is the node's own way to the target; `session` and `staging` must outlive it. `own_files`: of this node
    /// in the run.
    NeighbourSide(std::shared_ptr<sys::Store> store, const node::SessionFile& session, const node::Staging& staging,
                  const NodeFileOfRun& own_files, Tell tell);

    /// What the agent drains through.
    sys::Store& way() { return detour_ ? static_cast<sys::Store&>(*detour_) : *store_; }
    /// Each event of the loop, before anybody else hears it: at the beginning of a drain the way is chosen.
    void hear(const Event& event);
    /// A helper whose own work is done stays while others drain through it: for seconds where the application waits for
    /// its agents, for long where nobody does; not once `stop` is true, or another session comes.
    void stay(const std::atomic<bool>& stop) const;

private:
    void begin_help(const std::string& virtual_node);
    void begin_detour(const NodeFileOfRun& own_files);
    void begin_probes();
    void steer(const Event& event);

    const std::shared_ptr<sys::Store> store_;
    const node::SessionFile& session_;
    const node::Staging& staging_;
    const std::uint32_t number_;  // of the session in its run
    const std::string probe_path_;
    const Tell tell_;
    std::unique_ptr<Helper> helper_;
    std::unique_ptr<Detour> detour_;
    std::shared_ptr<SlowNode> slow_;  // with the thread that probes
    std::optional<Prober> prober_;    // from the moment on at which the node is found slow
};

}  // namespace forebay::agent
