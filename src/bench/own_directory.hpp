// A benchmark's own directory, DIRECTORY/forebay-bench-ID, in a directory of the user. Its mark has host, process and
// boot id, and a lock that lives as long as the process. So the next benchmark there can find leftovers of killed
// benchmarks and remove them.
//
// Owner: the object removes it, and also DIRECTORY if it made that and it is empty. Threads: one at a time; another
// thread may remove the path.

#pragma once

#include <string>
#include <vector>

#include "core/sys/lock.hpp"
#include "forebay/result.hpp"

namespace forebay::bench {

/// A new id. All ranks must use the same.
std::string new_bench_id();

/// The paths to remove.
struct OwnPath {
    std::string path;
    std::string created;  // DIRECTORY if it was missing before; else ""
};
Result<> remove_own(const OwnPath& own);

class OwnDirectory {
public:
    enum class Access { open, is_private };
    /// Makes it, and also DIRECTORY if only that is missing. Returns `missing` if the parent of DIRECTORY is missing.
    static Result<OwnDirectory> make(const std::string& directory, const std::string& id, Access access);
    OwnDirectory(OwnDirectory&& other) noexcept;
    OwnDirectory& operator=(OwnDirectory&&) = delete;
    ~OwnDirectory();

    const OwnPath& own() const { return own_; }

private:
    OwnDirectory() = default;

    OwnPath own_;  // path "": moved from
    sys::FileLock lock_;
};

/// Looks for other benchmarks' directories in this directory. Removes directories of this user whose process on this
/// machine is dead. Returns a line of text about each.
std::vector<std::string> remove_leftovers(const std::string& directory);

}  // namespace forebay::bench
