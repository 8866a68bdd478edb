// Names in a target directory that stores one entry for several spellings, such as "A" and "a" (vfat, exfat, NTFS, SMB;
// directories of ext4, f2fs and tmpfs with that setting). Only the file system knows the rules: a lookup by one
// spelling and a listing show the stored spelling.
//
// Threads: any.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

class CaseFoldNames {
public:
    /// The names of the target directory of `dir_node`, which must be open and have its status. Null if each name has
    /// one spelling. Free in a directory made by this run. Otherwise one call, on file systems with different
    /// directories.
    static CaseFoldNames* of(DirNode& dir_node, sys::Folder& folder);

    /// The stored spelling of the entry found under `name`; nothing if there is none.
    Result<std::optional<std::string>> spelling_of(sys::Folder& folder, const std::string& name);
    /// Renames an entry to its final name. It replaces an entry of this spelling. An entry of another spelling stays
    /// and is an error.
    Result<> rename(sys::Folder& folder, const std::string& temporary, const std::string& name);
    /// Call it before an entry replaces `existing`, found under `name`. Returns an error if that entry has another
    /// spelling and `source` has that spelling too. If the source has it no more, the entry is renamed to this spelling
    /// by way of `temporary`. In a dry run returns true instead.
    Result<bool> claim(sys::Folder& folder, sys::Folder& source, const std::string& name,
                       const sys::EntryStatus& existing, const std::string& temporary, bool is_dry);

private:
    Result<std::string> look(sys::Folder& folder, const std::string& name, const sys::EntryStatus& existing);

    std::mutex mutex_;  // guards the members below, and listings of the directory
    bool was_listed_ = false;
    std::vector<std::uint64_t> listed_;  // sorted hashes of the names at the first listing
};

/// Returns an error if the entry under `name` in the target directory of `dir_node` has another spelling.
Result<> check_spelling(DirNode& dir_node, sys::Folder& folder, const std::string& name);
/// Names that a file system folds together mostly have equal keys. Other names may have that key, too.
std::string key_of_name_fold(std::string_view name);

}  // namespace forebay::tree
