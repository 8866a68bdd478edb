// Makes one tree the copy of another: a new one (copy), or an old one made equal (sync). Everything that has a name is
// kept with all that it has: names of one inode, holes, owners, permissions, ACLs, capabilities, times.
//
// An entry gets its final name when it is whole: bytes and attributes come first, under a name that temporary names
// share (.fb-...). A killed copy leaves such names, folders that are not finished, and nothing else that is wrong; the
// next copy between the same two places removes the first and finishes the others, and goes on within large files.
//
// Threads: work is shared by `threads`. The callbacks of TreeCopyOptions are called by one thread at a time.

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
    std::atomic<std::uint64_t> entries{0};  // looked at
    std::atomic<std::uint64_t> copied{0}, linked{0}, adjusted{0}, equal{0}, folders{0}, removed{0};
    std::atomic<std::uint64_t> bytes{0};           // moved
    std::atomic<std::uint64_t> resumed_bytes{0};   // that a killed copy had moved
    std::atomic<std::uint64_t> laid_out{0};        // new files whose layout was chosen
    std::atomic<std::uint64_t> fewer_stripes{0};   // of these: the file system gave them fewer than they were to have
    std::atomic<std::uint64_t> passed_bytes{0};    // of files that are done, whether they had to be moved or not
    std::atomic<std::uint64_t> absolute_names{0};  // of an archive: names that begin with a slash
    /// Why nothing was removed of what the target alone has; empty: it was, or was not to be.
    std::string not_removed;
    Amount would_copy, would_replace, would_remove;  // in a dry run: what is missing, what differs, what is too much
};

/// Two trees of which a copy is made; in a dry run the target may be missing.
struct CopyRoots {
    FolderRef source, target;
    bool was_made = false;         // the target, by this copy
    bool has_others = false;       // both are folders of others, of which the list of the options wishes one entry
    FolderRef above;               // where the target is made, if it was missing
    std::string places{};          // what both are called, to know them again; empty: they are not to be known
    std::string temporary_prefix;  // of names of entries that are not whole, the same in each copy between these places
};
Result<> copy_open_trees(const CopyRoots& roots, const TreeCopyOptions& options, EntryLog& entry_log,
                         CopyCounts& counts);

/// Copies the tree at `source` to `target`, a folder that is made where it is missing; or a file to a file. What
/// happened to single entries is in `entry_log`. An error ends it all: the source is missing, one tree lies in the
/// other,
/// the target is full, or another process copies to the same place.
Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   EntryLog& entry_log, CopyCounts& counts);

}  // namespace forebay::tree
