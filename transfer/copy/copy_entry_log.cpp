#include "transfer/copy/copy_entry_log.hpp"

#include <fmt/format.h>

#include "core/format/run_identity.hpp"

namespace forebay::tree {

void tell_run(EntryLog& entry_log, bool root_is_run, const DirNode& dir_node, const std::string& name) {
    if (!dir_node.parent || dir_node.name != format::own_directory || !format::identity_in(name)) return;
    if (root_is_run && !dir_node.parent->parent) return;
    entry_log.add(EntryEvent::as_files, path_of(*dir_node.parent), "a run of Forebay, copied like any files");
}

void tell_flags(EntryLog& entry_log, const DirNode& dir_node, const std::string& name, const sys::EntryStatus& status) {
    if (!status.is_immutable && !status.is_append_only) return;
    entry_log.add(
        EntryEvent::flags_not_copied, name.empty() ? path_of(dir_node) : path_of(dir_node, name),
        fmt::format("it is {} (lsattr), and its copy is not", status.is_immutable ? "immutable" : "append-only"));
}

CopyStep report_changes(EntryLog& entry_log, const std::string& path) {
    entry_log.add(EntryEvent::changed, path,
                  "it changed during each copy and was left out. An older copy at the target stays");
    return CopyStep::reported;
}

}  // namespace forebay::tree
