// Whole entries get their own names, which is counted and recorded.
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

    /// `kind`: `copied` or `linked`. `reported`: something would be replaced, and that cannot be recorded.
    Result<CopyStep> publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder, EntryEvent kind);
    /// It has its name.
    void count(const EntryPlace& place, EntryEvent kind, bool has_replaced);
    /// Before something is replaced: `reported` where a record of it is wished and cannot be kept, which ends the copy.
    CopyStep check_recorded();
    /// Of what was done, where a record of it is wished.
    void record(EntryEvent kind, const DirNode& dir_node, const std::string& name) const {
        if (entry_log_.records(kind)) entry_log_.add(kind, path_of(dir_node, name), "");
    }

private:
    EntryLog& entry_log_;
    CopyCounts& counts_;
    Failures& failures_;
};

}  // namespace forebay::tree
