// An agent in its surroundings: the only place that connects the target, the run lock, the spool and the loop. A
// process, a thread of the application, a dedicated rank and `forebay drain` all use it to serve a staging directory.
//
// Life:   enter() takes the agent's lock -> serve(), once -> the destructor gives the lock back

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "path/agent/agent.hpp"
#include "path/agent/target.hpp"
#include "path/agent/view_maker.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// Everything that an agent uses. A thread that hangs in a dead mount is left behind with it, so nothing in it belongs
/// to the application's session.
struct Serving {
    Target target;
    node::Staging staging;
    node::SessionFile session;
    sys::FileLock lock;  // while it is held, no other agent serves the directory
    Tell tell;
    std::string agent = "process";  // its name for monitors: "process", "thread", "rank", "drain"
    std::int64_t began_unix_ns = sys::unix_ns();
};

/// The contents of session.json of a staging directory.
Result<node::SessionFile> session_of(const std::string& directory);
/// For a program that the server of the directory started: the session as the server uses it.
Result<node::SessionFile> served_session_of(const std::string& directory);

/// Serves the directory of a session from now on. Returns nothing if another agent serves it already.
Result<std::optional<Serving>> enter(const std::string& directory, const ViewMaker& make_view, Tell tell);

struct Served {
    bool committed = false;             // every sealed slot
    Result<> packed = {};               // the spool
    std::set<std::string> others = {};  // Agent::others()
};

/// Drains and commits until the session ends or `stop` is true, then packs the rest of the spool. This ends the
/// connections to forwarders. The lock stays held.
Served serve(Serving& serving, const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

/// Writes into the run that the agent of this directory leaves with the work that the page shows. For a process that is
/// killed in a moment, together with the agent. Waits at most StatusPace::end_max.
Result<> write_left(const std::string& directory);

/// The kind of host of an agent. A process may outlive its application, and keep the staged copies for a while.
enum class Hosted { process, rank };

/// The body of `forebay agent`: enters, calls `ready`, serves. True if everything is committed, or if another agent
/// serves the directory already. When all is committed and nobody uses the directory any more, it is freed: at once
/// after the session's end, or AgentOptions::linger after the death of the application.
Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log, Hosted hosted);

}  // namespace forebay::agent
