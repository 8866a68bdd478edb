// Names of a folder of the target that takes several spellings for one name, such as "A" and "a" (vfat, exfat, NTFS,
// SMB; folders of ext4, f2fs and tmpfs that are told to). Which ones these are the file system alone knows: it is asked
// under one spelling and says by its listing which one it has.
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
    /// Those of the target's folder of `dir_node`, which is open and has its status; null where names have one
    /// spelling.
    /// Costs nothing in a folder that this run has made, and elsewhere one call, on file systems where folders differ.
    static CaseFoldNames* of(DirNode& dir_node, sys::Folder& folder);

    /// How the entry is spelled that is found under `name`; nothing where none is.
    Result<std::optional<std::string>> spelling_of(sys::Folder& folder, const std::string& name);
    /// Gives an entry its name. It replaces one of this spelling; another one stays, and the error says so.
    Result<> rename(sys::Folder& folder, const std::string& temporary, const std::string& name);
    /// Before an entry takes the place of `existing`, which is found under `name`: an error where that is an entry of
    /// another spelling which `source` has, too. One that it has not any more gets this spelling, by way of
    /// `temporary`; in a dry run true: it would.
    Result<bool> claim(sys::Folder& folder, sys::Folder& source, const std::string& name,
                       const sys::EntryStatus& existing, const std::string& temporary, bool is_dry);

private:
    Result<std::string> look(sys::Folder& folder, const std::string& name, const sys::EntryStatus& existing);

    std::mutex mutex_;  // guards what follows, and listings of the folder
    bool was_listed_ = false;
    std::vector<std::uint64_t> listed_;  // hashes of the names that were there at first, sorted
};

/// An error where what is found under `name` in the target's folder of `dir_node` has another spelling.
Result<> check_spelling(DirNode& dir_node, sys::Folder& folder, const std::string& name);
/// Names that are taken for one have mostly one such key; others may have it, too.
std::string key_of_name_fold(std::string_view name);

}  // namespace forebay::tree
