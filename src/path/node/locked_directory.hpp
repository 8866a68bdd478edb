// The lock of a staging directory. A session takes it before it stages anything and holds it while it lives. A killed
// session holds it until the kernel has ended its process. An agent holds it while it frees the directory. A new
// session waits for both.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/sys/lock.hpp"
#include "path/node/holder_wait.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::node {

/// A locked staging directory, before anything is staged in it.
class LockedDirectory {
public:
    /// Makes the directory and locks it. Only the node's first rank may call it. Waits as DirectoryLocking does; `say`
    /// gets the reason of a long wait. `refused` if another session of this run lives on this node.
    static Result<LockedDirectory> lock(const std::string& directory, const std::string& run, const Say& say = {});
    LockedDirectory(LockedDirectory&&) = default;
    LockedDirectory& operator=(LockedDirectory&&) = delete;
    /// Removes the directory if it is empty.
    ~LockedDirectory();
    const std::string& path() const { return path_; }

private:
    friend class DirectoryLocking;
    friend class Staging;
    LockedDirectory(std::string path, sys::FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
    std::string path_;
    sys::FileLock lock_;
};

/// Locks a staging directory in turns. The caller may do other work between two turns.
class DirectoryLocking {
public:
    /// See HolderWait for `for_living`. Errors contain `run`, which may be "".
    DirectoryLocking(std::string directory, std::string run, std::chrono::milliseconds for_living = living_holder_max);
    /// Tries once. Returns the directory or an error, which ends the locking. Without a result, wait for holder() and
    /// try again.
    std::optional<Result<LockedDirectory>> turn();
    const std::string& holder() const { return named_; }

private:
    Error refusal(std::int64_t process) const;

    const std::string directory_, run_;
    const HolderWait wait_;
    const sys::Clock::time_point freed_by_;
    std::string named_;
};

/// The process of the session that staged there; 0 if unknown.
std::int64_t process_of_session(const std::string& directory);

}  // namespace forebay::node
