// A lock that lies in a run, for the processes that write it or make a file of it.
//
// Where the target's file system has locks, it is one of them and all hosts know it. Where it has none (Lustre mounted
// without flock, NFS without a lock manager), a lock of this host in the user's staging home stands in for it, and
// PATH.host at the target says of which host it is. Another host cannot tell whether its holder still lives: to it the
// lock is held until PATH.host is gone, which its holder or, after a crash, a person removes.

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

    /// `retry` when another process holds it, or one of another host may; `missing` without the run.
    static Result<RunLock> take(const std::string& path);
    bool held() const { return lock_.held(); }
    /// Whether the target has no locks, so that this host alone knows this one.
    bool is_of_host() const { return !stand_in_.empty(); }
    void release();

private:
    sys::FileLock lock_;  // at the target, or what stands in for it
    std::string stand_in_, record_;
    std::int64_t owner_ = 0;  // the process that took it; a forked child must not remove its parent's files
};

/// Whether some process holds the lock, or one of another host may.
bool run_lock_is_held(const std::string& path);

/// For messages about a lock that is held: "" where that is certain; else " (...)", who may hold it, why that cannot
/// be told here, and what to do.
std::string run_lock_doubt(const std::string& path);

}  // namespace forebay::node
