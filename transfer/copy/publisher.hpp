// Renames complete entries to their final names, counts them and records them.
//
// Threads: any.

#pragma once

#include <string>

#include "transfer/copy/copy.hpp"
#include "transfer/copy/failures.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/copy/temporary_names.hpp"
#include "transfer/tables/spilled_places.hpp"

namespace forebay::tree {

class NamePublisher {
public:
    NamePublisher(EntryLog& entry_log, CopyCounts& counts, Failures& failures)
        : entry_log_(entry_log), counts_(counts), failures_(failures) {}

    /// `kind` is `copied` or `linked`. Returns `reported` if an entry would be replaced and that cannot be recorded.
    Result<CopyStep> publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder, EntryEvent kind);
    /// Counts and records an entry that has its final name.
    void count(const EntryPlace& place, EntryEvent kind, bool has_replaced);
    /// Call it before an entry is replaced. Returns `reported` and ends the copy if a requested record cannot be
    /// written.
    CopyStep check_recorded();
    /// Records an action, if requested.
    void record(EntryEvent kind, const DirNode& dir_node, const std::string& name) const {
        if (entry_log_.records(kind)) entry_log_.add(kind, path_of(dir_node, name), "");
    }

private:
    EntryLog& entry_log_;
    CopyCounts& counts_;
    Failures& failures_;
};

}  // namespace forebay::tree
