// Makes a tree a copy of another: a new tree (copy), or an existing tree made equal (sync). It keeps every named entry
// with all attributes: hard links, holes, owners, permissions, ACLs, capabilities, times.
//
// An entry gets its final name when it is complete. Bytes and attributes are first written under a temporary name
// (.fb-...). A killed copy leaves only such names and unfinished directories. The next copy between the same two places
// removes the temporary names, finishes the directories, and continues large files.
//
// Threads: `threads` share the work. Callbacks of TreeCopyOptions are called by one thread at a time.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "forebay/result.hpp"
#include "transfer/copy/copy_options.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/amount.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

struct CopyCounts {
    std::atomic<std::uint64_t> entries{0};  // entries processed
    std::atomic<std::uint64_t> copied{0}, linked{0}, adjusted{0}, equal{0}, folders{0}, removed{0};
    std::atomic<std::uint64_t> bytes{0};           // bytes copied
    std::atomic<std::uint64_t> resumed_bytes{0};   // bytes copied by a killed run
    std::atomic<std::uint64_t> laid_out{0};        // new files with a chosen layout
    std::atomic<std::uint64_t> fewer_stripes{0};   // of these, files with fewer stripes than requested
    std::atomic<std::uint64_t> passed_bytes{0};    // bytes of finished files, copied or already there
    std::atomic<std::uint64_t> absolute_names{0};  // in an archive: names with a leading slash
    /// The reason if extra entries of the target were not removed. Empty: they were, or removal was not requested.
    std::string not_removed;
    Amount would_copy, would_replace, would_remove;  // in a dry run: missing, different and extra entries
};

/// The two trees of a copy. In a dry run the target may be missing.
struct CopyRoots {
    FolderRef source, target;
    bool was_made = false;         // the target was made by this copy
    bool has_others = false;       // both belong to other entries: only one listed entry is copied
    FolderRef above;               // parent of the target, if the target was missing
    std::string places{};          // identifies the two places for LastCopy; empty: not recorded
    std::string temporary_prefix;  // prefix of temporary names, equal in each copy between these places
};
Result<> copy_open_trees(const CopyRoots& roots, const TreeCopyOptions& options, EntryLog& entry_log,
                         CopyCounts& counts);

/// Copies the tree at `source` to `target`, a directory that is made if it is missing; or a file to a file. `entry_log`
/// has the results of single entries. Returns an error if the copy cannot run: the source is missing, one tree lies in
/// the other, the target is full, or another process copies to the same place.
Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   EntryLog& entry_log, CopyCounts& counts);

}  // namespace forebay::tree
