// A directory of a benchmark's own, DIRECTORY/forebay-bench-ID, in one that a user names. It is marked with host,
// process and start of the machine, and a lock that lives as long as the process: so that the next benchmark there can
// tell what a killed one has left, and remove it.
//
// Owner: the object removes it, and DIRECTORY where it has made that and nothing else is in it. Threads: one at a time;
// the path may be removed by another.

#pragma once

#include <string>
#include <vector>

#include "core/sys/lock.hpp"
#include "forebay/result.hpp"

namespace forebay::bench {

/// A new name, of which each rank must have the same.
std::string new_bench_id();

/// What there is to remove.
struct OwnPath {
    std::string path;
    std::string created;  // DIRECTORY, where it was not there before; ""
};
Result<> remove_own(const OwnPath& own);

class OwnDirectory {
public:
    enum class Access { open, is_private };
    /// Makes it, and DIRECTORY where that alone is missing: `missing` where what is to hold that is.
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

/// Looks for directories of other benchmarks in this one. Those of this user whose process on this machine is dead are
/// removed. A line about each, as people read it.
std::vector<std::string> remove_leftovers(const std::string& directory);

}  // namespace forebay::bench
