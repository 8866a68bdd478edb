// An agent's use of the neighbours of its job. It helps them, or it writes through one of them if its node is excluded,
// or as long as its node is slow. Does nothing if the job has no neighbours. Threads: hear() and stay() from the thread
// of the agent's loop.

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
    /// `store` is the node's own way to the target. `session` and `staging` must outlive it. `own_files` are this
    /// node's files in the run.
    NeighbourSide(std::shared_ptr<sys::Store> store, const node::SessionFile& session, const node::Staging& staging,
                  const NodeFileOfRun& own_files, Tell tell);

    /// The Store through which the agent drains.
    sys::Store& way() { return detour_ ? static_cast<sys::Store&>(*detour_) : *store_; }
    /// Takes each event of the loop before all sinks: at the beginning of a drain it chooses the way.
    void hear(const Event& event);
    /// A helper whose own work is done stays while other nodes drain through it: for seconds if the application waits
    /// for its agents, otherwise longer. It leaves when `stop` is true or another session comes.
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
    std::optional<Prober> prober_;    // after the node was found slow
};

}  // namespace forebay::agent
