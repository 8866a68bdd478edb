// Files of this machine, beyond the calls of a Store: the identity of a file behind a name, and changes of names that
// never touch a file of another writer.
//
// Threads: any; other processes may change the same directories at any moment.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::sys {

/// The file behind a name. Two values are equal as long as nobody writes to the file, changes its mode or owner,
/// renames it or replaces it.
struct LocalFile {
    enum class Kind { file, directory, other } kind = Kind::other;
    std::uint64_t bytes = 0;
    std::uint64_t held_bytes = 0;       // on the file system: less if the file has holes
    std::uint32_t owner = 0;            // a user's number
    std::uint32_t mode = 0;             // permissions
    std::int64_t modified_unix_ns = 0;  // limited to 64 bits: 1677 to 2262
    std::uint64_t device = 0, inode = 0;
    std::int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
    friend bool operator==(const LocalFile&, const LocalFile&) = default;
};

/// Follows no link. `missing` if nothing has that name.
Result<LocalFile> look_at(const std::string& path);

/// Names in a directory except "." and "..", unsorted. Does not follow a link in the last part of the path.
Result<std::vector<std::string>> names_in(const std::string& directory);

/// Opens for reading the file seen under this name: `missing` if the name is gone or means another file.
Result<std::unique_ptr<File>> open_seen(const std::string& path, const LocalFile& seen);

/// Removes the file or link seen under this name; returns whether it did. If another file gets the name at the same
/// moment, that file stays, unless a third file takes the name from it.
Result<bool> remove_seen(const std::string& path, const LocalFile& seen);

/// Removes a directory only if it is empty. Returns whether it is gone.
Result<bool> remove_empty(const std::string& directory);

/// Creates a file with mode 0666 less the umask; `refused` if the name is taken.
Result<std::unique_ptr<File>> create_new(const std::string& path);

/// Renames a file; `refused` if the new name is taken.
Result<> rename_to_free(const std::string& from, const std::string& to);

/// A short, unique, temporary name in the directory of `path`. It begins with a dot, so readers skip it.
std::string random_name_beside(const std::string& path);

/// Sets mode and modification time of a file that is no link. The file system may round the time.
Result<> set_mode_and_time(const std::string& path, std::uint32_t mode, std::int64_t modified_unix_ns);

}  // namespace forebay::sys
