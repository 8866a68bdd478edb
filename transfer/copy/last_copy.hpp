// What the copy before this one between two places says of entries that nobody has changed since: they have the
// extended attributes that it has compared. Each change of an entry, of its attributes too, marks it with the time of
// the kernel or the server, which nobody can set; one that was changed before that copy began was seen by it as it is
// now. A source that is mounted read-only may be a snapshot, which is older than the begin of its copy, and another one
// the next time: of it nothing is kept.
//
// The times of copies are kept for their user, outside of both trees, in ~/.cache/forebay/copies. They count on the
// same start of the machine, between the same two folders, while the clock is not set anew. Without them all is looked
// at.

#pragma once

#include <optional>
#include <string>

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// The extended attributes need not be looked at of an entry whose last change is before these times.
struct Untouched {
    sys::FileTime entries[2];      // by TreeSide: the last copy's begin
    sys::FileTime target_folders;  // and its end: it fills folders itself
};

/// What times of change of both trees say of each other.
struct Clocks {
    /// By how much a change of an entry of one tree must be older than one of the other to be the earlier one: 0 where
    /// this machine's kernel stamps both, 600 where a server does.
    std::int64_t margin_seconds = 0;
    /// It is mounted read-only, maybe as a snapshot: a change in it may come later than the copy of what it was before,
    /// and still have an earlier time.
    bool source_may_be_older = false;
};
Result<Clocks> clocks_of(sys::Folder& source, sys::Folder& target);

/// Whether a change that has the time `changed` was made before `time`. File systems of whole seconds give it the
/// second that it lies in.
bool is_before(sys::FileTime changed, sys::FileTime time);

class LastCopy {
public:
    /// `places` names both trees: what was kept of them, and a begin for what is to be kept.
    static Result<LastCopy> find(sys::Folder& source, sys::Folder& target, const std::string& places);

    const std::optional<Untouched>& untouched() const { return untouched_; }
    /// This copy has looked at all, and all that the source has is at the target. Where it cannot be kept, the next one
    /// looks at all again.
    void keep() const;

private:
    std::string name_, identity_;  // no name: nothing is kept
    std::int64_t clock_base_ = 0;
    Untouched own_;
    std::optional<Untouched> untouched_;
};

/// What bears an earlier time of change, in the file system of `folder`, was changed before the call returns, and what
/// is changed afterwards bears none: where this machine's kernel stamps changes, it waits for a tick of its clock.
Result<sys::FileTime> settled_time(sys::Folder& folder);

}  // namespace forebay::tree
