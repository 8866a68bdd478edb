// Compares two trees: names, kinds, sizes, attributes, hard links, bytes. Changes nothing.

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
    /// Entries compared on both sides; bytes of files that were read, now or under another name of the inode.
    std::atomic<std::uint64_t> entries{0}, bytes{0};
};

struct CompareOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    Preserve preserve{};  // attributes to compare
    bool reads_bytes = true;
    bool recalls = false;  // also compares files with bytes only in an archive (HSM)
    bool one_file_system = false;
    TableLimits tables{};
    std::function<void(const CompareCounts&)> watch{};
    Coordinator* lead = nullptr;  // coordinator of other processes that share the work
};

/// Compares two trees. `entry_log` gets the results: `differs`, `missing_in_target`, `extra_in_target`. If one tree
/// lacks a directory, only the directory is reported, not its entries. A directory with more names than the limit is
/// compared name by name, with one more lookup for each name.
Result<> compare_trees(const std::string& source, const std::string& target, const CompareOptions& options,
                       EntryLog& entry_log, CompareCounts& counts);
/// The same for open trees, only in this process.
Result<> compare_open_trees(FolderRef source, FolderRef target, const CompareOptions& options, EntryLog& entry_log,
                            CompareCounts& counts);

}  // namespace forebay::tree
