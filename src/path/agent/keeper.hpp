// The keeper of a node: a process of `forebay job` that starts the agents of sessions. Slurm kills each process of a
// job step when the step ends. An agent started by the keeper belongs to the keeper's step, so it outlives the
// application.
//
// A session and the keeper talk over a local socket in the private directory of the user (node::staging_home), which
// is closed to other users:
//
//   BASE/forebay-UID/keeper.ID   ID begins with the job's number, and FOREBAY_KEEPER has the whole ID
//
//   request   u32 bytes of the rest; texts with a NUL at each end: "1", program, staging directory, "NAME=value"...
//   answer    u32 0: the agent serves the directory. Otherwise the bytes of the text of the error, which follows
//
// Numbers have the order of the machine: both sides are on one.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/sys/process.hpp"
#include "core/sys/socket.hpp"
#include "forebay/result.hpp"

namespace forebay::agent {

/// The environment variable with the ID of the keepers of this command.
inline constexpr const char* keeper_variable = "FOREBAY_KEEPER";

/// The number of this job of Slurm or PBS; empty outside of a job.
std::string job_number();

/// Asks the keeper of this node to start the agent of a staging directory. False if no keeper answers. An error if the
/// keeper could not start it, after `timeout`, or if `interrupted` returns true.
Result<bool> ask_keeper(const std::string& directory, const sys::Spawn& spawn, std::chrono::milliseconds timeout);

/// True if a keeper of this job listens beside this staging directory.
bool has_keeper(const std::string& directory);

/// A warning if Slurm kills the agent of this process together with its job step, and no keeper prevents that. Empty
/// otherwise.
std::string step_warning(const std::string& directory);

/// The same from facts: the job's number, the step's number, and the text of /proc/self/cgroup.
bool ends_with_step(const std::string& job, const std::string& step, const std::string& cgroups);

/// The keeper's side. One thread.
class KeeperDoor {
public:
    /// `retry` if another keeper has this ID.
    static Result<KeeperDoor> open(const std::string& staging, const std::string& id);
    KeeperDoor(KeeperDoor&& other) noexcept
        : listener_(std::move(other.listener_)), path_(std::exchange(other.path_, {})) {}
    KeeperDoor& operator=(KeeperDoor&&) = delete;
    KeeperDoor(const KeeperDoor&) = delete;
    KeeperDoor& operator=(const KeeperDoor&) = delete;
    ~KeeperDoor();

    /// Waits for a request, at most `timeout`, and starts the agent. Returns the staging directory, or "" if none came.
    std::string serve(std::chrono::milliseconds timeout);

private:
    KeeperDoor(sys::Listener listener, std::string path) : listener_(std::move(listener)), path_(std::move(path)) {}

    sys::Listener listener_;
    std::string path_;  // empty: moved from
};

}  // namespace forebay::agent
