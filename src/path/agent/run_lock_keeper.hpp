// Shows at the target that this node's session lives, and finds out when another session has claimed the run. It is a
// thread of the agent's host beside the agent's loop, because a drain that takes long must not look like a dead
// session.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/events.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

class RunLockKeeper {
public:
    /// All three must outlive it. Does nothing on nodes whose page says that another node shows life.
    RunLockKeeper(sys::Store& store, node::Staging& staging, std::string run, Tell tell);
    RunLockKeeper(const RunLockKeeper&) = delete;
    RunLockKeeper& operator=(const RunLockKeeper&) = delete;
    /// Ends the claim of a session that is closed, or whose application has died, so that the next one need not watch
    /// it.
    ~RunLockKeeper();

private:
    void keep();
    void look();

    sys::Store& store_;
    node::Staging& staging_;
    node::Control& page_;
    const std::string run_;
    const Tell tell_;
    std::uint64_t count_;
    bool is_told_ = false, ended_ = false;

    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    bool leaves_ = false;
    sys::Thread thread_;
};

/// Says on the page that the session has lost its run, and why, unless it says so already: the application is told at
/// its next call.
void say_lost(node::Control& page, const Error& why);

}  // namespace forebay::agent
