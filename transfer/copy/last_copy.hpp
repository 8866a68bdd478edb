// The record of the last copy between two places. Entries without a change since then still have the extended
// attributes compared by that copy. Each change of an entry or its attributes sets its ctime from the clock of the
// kernel or the server; no user can set it. A read-only source may be a snapshot, older than the begin of its copy, and
// another snapshot the next time. So there is no record for it.
//
// Records are kept for each user in ~/.cache/forebay/copies, outside both trees. A record is valid for one boot, the
// same two directories, and an unchanged clock. Without a record all attributes are compared.

#pragma once

#include <optional>
#include <string>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// Extended attributes of entries with an earlier ctime need not be compared.
struct Untouched {
    sys::FileTime entries[2];      // by TreeSide: the begin of the last copy
    sys::FileTime target_folders;  // the end of the last copy, which itself changes directories
};

/// How ctimes of both trees compare.
struct Clocks {
    /// A change in one tree is certainly earlier than a change in the other if its ctime is earlier by this: 0 if this
    /// machine's kernel stamps both, 600 if a server does.
    std::int64_t margin_seconds = 0;
    /// The source is mounted read-only and may be a snapshot. A later snapshot may bring a change with a ctime before
    /// the copy.
    bool source_may_be_older = false;
};
Result<Clocks> clocks_of(sys::Folder& source, sys::Folder& target);

/// True if a change with the ctime `changed` was made before `time`. File systems with whole seconds round it down.
bool is_before(sys::FileTime changed, sys::FileTime time);

class LastCopy {
public:
    /// `places` identifies both trees. Reads their record and notes the begin of this copy.
    static Result<LastCopy> find(sys::Folder& source, sys::Folder& target, const std::string& places);

    const std::optional<Untouched>& untouched() const { return untouched_; }
    /// Records this copy. It must have compared everything, and the target must have all that the source has. If the
    /// record cannot be written, the next copy compares everything again.
    void keep() const;

private:
    std::string name_, identity_;  // empty name: no record
    std::int64_t clock_base_ = 0;
    Untouched own_;
    std::optional<Untouched> untouched_;
};

/// Returns a time T of `folder`'s file system: changes made before the call returns have ctime < T, later changes do
/// not. If this machine's kernel stamps changes, it waits for a tick of the clock.
Result<sys::FileTime> settled_time(sys::Folder& folder);

}  // namespace forebay::tree
