// Renews the run lock at the target while this node's session lives, and notices when another session takes the run. A
// thread beside the agent's loop does this, because a long drain must not look like a dead session.

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
    /// All three must outlive it. Does nothing if the page assigns the run lock to another node.
    RunLockKeeper(sys::Store& store, node::Staging& staging, std::string run, Tell tell);
    RunLockKeeper(const RunLockKeeper&) = delete;
    RunLockKeeper& operator=(const RunLockKeeper&) = delete;
    /// Ends the run lock of a session that is closed, or whose application died, so the next session need not watch it.
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

    std::mutex mutex_;  // guards the members below
    std::condition_variable wake_;
    bool leaves_ = false;
    sys::Thread thread_;
};

/// Notes on the page that the session lost its run, and the reason, unless the page has that already. The application
/// gets the error at its next call.
void say_lost(node::Control& page, const Error& why);

}  // namespace forebay::agent
