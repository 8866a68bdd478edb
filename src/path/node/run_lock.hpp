// A lock in a run's directory, for processes that write the run or make a file of it.
//
// If the target's file system has locks, this is such a lock and all hosts see it. If it has no locks (Lustre mounted
// without flock, NFS without a lock manager), a lock in this user's staging home on this host replaces it, and
// PATH.host at the target names the host. Another host cannot see whether the holder lives, so it treats the lock as
// held until PATH.host is gone. The holder removes that file; after a crash a person must.

#pragma once

#include <string>

#include "core/sys/lock.hpp"

namespace forebay::node {

class RunLock {
public:
    RunLock() = default;
    RunLock(RunLock&& other) = default;
    RunLock& operator=(RunLock&& other) noexcept;
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;
    ~RunLock() { release(); }

    /// `retry` if another process holds it, or a process of another host may hold it. `missing` without the run.
    static Result<RunLock> take(const std::string& path);
    bool held() const { return lock_.held(); }
    /// True if the target has no locks, so only this host knows this lock.
    bool is_of_host() const { return !stand_in_.empty(); }
    void release();

private:
    sys::FileLock lock_;  // at the target, or its replacement
    std::string stand_in_, record_;
    std::int64_t owner_ = 0;  // the process that took it; a forked child must not remove its parent's files
};

/// True if a process holds the lock, or a process of another host may hold it.
bool run_lock_is_held(const std::string& path);

/// For messages about a held lock. "" if it is certainly held. If not: " (...)", with the host of the possible holder,
/// the reason of the doubt, and the next step.
std::string run_lock_doubt(const std::string& path);

}  // namespace forebay::node
