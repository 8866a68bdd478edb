// Compares two trees: names, kinds, sizes, attributes, names of one inode, bytes. Changes nothing.

#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "transfer/copy/attributes.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/tables/table_limits.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::tree {

class Coordinator;

struct CompareCounts {
    /// Looked at on both sides; of files that were read, or whose inode was, under another name.
    std::atomic<std::uint64_t> entries{0}, bytes{0};
};

struct CompareOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    Preserve preserve{};  // which attributes are compared
    bool reads_bytes = true;
    bool recalls = false;  // bytes that an archive alone has (HSM) are compared too
    bool one_file_system = false;
    TableLimits tables{};
    std::function<void(const CompareCounts&)> watch{};
    Coordinator* lead = nullptr;  // of other processes that share the work
};

/// What differs is in `entry_log`: `differs`, `missing_in_target`, `extra_in_target`; a folder that one tree lacks is
/// named, and
/// what lies in it is not. A folder of more names than the options hold is compared name by name, which takes a look
/// more at each.
Result<> compare_trees(const std::string& source, const std::string& target, const CompareOptions& options,
                       EntryLog& entry_log, CompareCounts& counts);
/// The same of trees that are open, by this process alone.
Result<> compare_open_trees(FolderRef source, FolderRef target, const CompareOptions& options, EntryLog& entry_log,
                            CompareCounts& counts);

}  // namespace forebay::tree
