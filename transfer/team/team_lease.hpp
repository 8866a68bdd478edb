// For how long a member of a team may change the trees: as long as the first process cannot have given its work to
// others. A member that was stopped, and goes on when others have done its work, would else rename its older copy over
// theirs, or remove what was made anew since.
//
// The first process takes a member for lost when it has heard nothing of it for its patience. Its beats tell when the
// member said what was heard last, by the member's own clock: the patience, counted from there, has not run out at the
// first process either. A quarter of it is left to a call that has begun. Of a patience of 16 s, a member whose words
// of 10:00:00 were heard changes something until 10:00:12.
//
// Threads: any; renew() one.

#pragma once

#include <atomic>
#include <chrono>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

class TeamLease {
public:
    /// Begins now. `timeout`: 0 where nobody is lost for being silent.
    explicit TeamLease(std::chrono::seconds timeout);

    /// What this process said at `time`, of sys::time_since_boot(), was heard by the first process.
    void renew(std::chrono::nanoseconds time);
    /// The first process is gone, or takes this one for lost.
    void end() { has_ended_ = true; }
    /// Before a change. Where the term has run out it waits until it is renewed, or has ended: `retry`.
    Result<> hold() const;

private:
    const std::chrono::nanoseconds length_;
    std::atomic<std::chrono::nanoseconds> until_;
    std::atomic<bool> has_ended_{false};
};

/// `folder`, of which nothing is changed but within `lease`, nor of all that is opened through it. `lease` outlives it.
FolderRef within_lease(FolderRef folder, const TeamLease& lease);

}  // namespace forebay::tree
