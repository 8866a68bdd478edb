// The time in which a worker may change the trees: the coordinator cannot have passed its work on meanwhile. Without it
// a worker that was stopped and continues late would rename its older copy over a newer copy, or remove new entries.
//
// The coordinator takes a worker for lost after a timeout without a message. Its beats return the time of the worker's
// last message, by the worker's own clock. The timeout counted from that time has not ended in the coordinator either.
// A quarter of it is left for a call that has begun. Example: the timeout is 16 s, and the coordinator received a
// message of 10:00:00. The worker changes entries until 10:00:12.
//
// Threads: any; renew() one.

#pragma once

#include <atomic>
#include <chrono>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

class TeamLease {
public:
    /// Begins now. A `timeout` of 0 never ends: silent workers are not lost.
    explicit TeamLease(std::chrono::seconds timeout);

    /// The coordinator received a message that this process sent at `time` of sys::time_since_boot().
    void renew(std::chrono::nanoseconds time);
    /// The coordinator is gone, or takes this worker for lost.
    void end() { has_ended_ = true; }
    /// Call before a change. After the lease has run out it waits for a renewal. Returns `retry` after end().
    Result<> hold() const;

private:
    const std::chrono::nanoseconds length_;
    std::atomic<std::chrono::nanoseconds> until_;
    std::atomic<bool> has_ended_{false};
};

/// A view of `folder` that changes entries only within `lease`, also through all entries opened by it. `lease` must
/// outlive it.
FolderRef within_lease(FolderRef folder, const TeamLease& lease);

}  // namespace forebay::tree
