// Files of this machine beyond what a Store knows: which file it is that lies under a name, and names that are taken or
// given up only when no file of anybody else is touched by that.
//
// Threads: any; other processes may change the same directories at any moment.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::sys {

/// What lies under a name, and which one. Equal while nobody writes to the file, changes its mode or owner, renames it
/// or puts another one there.
struct LocalFile {
    enum class Kind { file, directory, other } kind = Kind::other;
    std::uint64_t bytes = 0;
    std::uint64_t held_bytes = 0;       // of the file system: less where it has holes
    std::uint32_t owner = 0;            // a user's number
    std::uint32_t mode = 0;             // permissions
    std::int64_t modified_unix_ns = 0;  // the nearest that 64 bits hold: 1677 to 2262
    std::uint64_t device = 0, inode = 0;
    std::int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
    friend bool operator==(const LocalFile&, const LocalFile&) = default;
};

/// Follows no link. `missing` when nothing has that name.
Result<LocalFile> look_at(const std::string& path);

/// Names in a directory but "." and "..", in no order. Follows no link in the last part of the path.
Result<std::vector<std::string>> names_in(const std::string& directory);

/// Opens for reading the file that was seen under this name: `missing` when another one is there, or none.
Result<std::unique_ptr<File>> open_seen(const std::string& path, const LocalFile& seen);

/// Removes the file or link that was seen under this name; whether it was it. Another one that gets the name at the
/// same moment stays, unless a third has taken the name from that.
Result<bool> remove_seen(const std::string& path, const LocalFile& seen);

/// Removes a directory that is empty, and nothing else; whether it is gone.
Result<bool> remove_empty(const std::string& directory);

/// Makes a file that was not there, with the mode that the umask leaves of 0666; `refused` when the name is taken.
Result<std::unique_ptr<File>> create_new(const std::string& path);

/// Renames a file to a name that is free; `refused` when it is taken.
Result<> rename_to_free(const std::string& from, const std::string& to);

/// A name for a while in the directory of `path`, short and nobody else's: with a dot, so that it is read as nothing.
std::string random_name_beside(const std::string& path);

/// Sets both for a file that is no link; the time as far as the file system keeps it.
Result<> set_mode_and_time(const std::string& path, std::uint32_t mode, std::int64_t modified_unix_ns);

}  // namespace forebay::sys
