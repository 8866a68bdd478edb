#include "transfer/copy/copy_remarks.hpp"

#include <fmt/format.h>

#include "core/format/run_identity.hpp"

namespace forebay::tree {

void tell_run(Remarks& remarks, bool root_is_run, const Branch& branch, const std::string& name) {
    if (!branch.parent || branch.name != format::own_directory || !format::identity_in(name)) return;
    if (root_is_run && !branch.parent->parent) return;
    remarks.add(RemarkKind::as_files, path_of(*branch.parent), "a run of Forebay, taken like any files");
}

void tell_flags(Remarks& remarks, const Branch& branch, const std::string& name, const sys::EntryStatus& status) {
    if (!status.is_immutable && !status.is_append_only) return;
    remarks.add(
        RemarkKind::flags_left, name.empty() ? path_of(branch) : path_of(branch, name),
        fmt::format("it is {} (lsattr), and its copy is not", status.is_immutable ? "immutable" : "append-only"));
}

CopyStep report_changes(Remarks& remarks, const std::string& path) {
    remarks.add(RemarkKind::changed, path,
                "it changed each time that it was copied, and was left out: an older copy at the target, if there is "
                "one, stays");
    return CopyStep::reported;
}

}  // namespace forebay::tree
