// An agent in its surroundings: the one place where the target, the claim, the spool and the loop are put together. A
// process, a thread of the application, a dedicated rank and `forebay drain` all serve a staging directory by it.
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

/// All that an agent uses. A thread that hangs in a dead mount is left behind with it, so nothing in it belongs to the
/// application's session.
struct Serving {
    Target target;
    node::Staging staging;
    node::SessionFile session;
    sys::FileLock lock;  // while it is held, no other agent serves the directory
    Tell tell;
    std::string agent = "process";  // as monitors call it: "process", "thread", "rank", "drain"
    std::int64_t began_unix_ns = sys::unix_ns();
};

/// The contents of session.json of a staging directory.
Result<node::SessionFile> session_of(const std::string& directory);
/// For a program that whoever serves the directory has started: as that one serves it.
Result<node::SessionFile> served_session_of(const std::string& directory);

/// Serves the directory of a session from now on; nothing where another agent does so already.
Result<std::optional<Serving>> enter(const std::string& directory, const ViewMaker& make_view, Tell tell);

struct Served {
    bool committed = false;             // all that was sealed
    Result<> packed = {};               // the spool
    std::set<std::string> others = {};  // Agent::others()
};

/// Drains and commits until the session ends or `stop` is true, then packs what is left in the spool. The connections
/// to forwarders end with it; the lock stays held.
Served serve(Serving& serving, const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

/// The kind of host of an agent. A process of its own may outlive its application, and keep the staged copies a while.
enum class Hosted { process, rank };

/// The body of `forebay agent`: enters, calls `ready`, serves. True when everything is committed; also when another
/// agent serves the directory already. When all is committed and nobody uses the directory any more it is freed: at
/// once after the session's end, after AgentOptions::linger when the application has died.
Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log, Hosted hosted);

}  // namespace forebay::agent
