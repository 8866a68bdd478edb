// Locks between processes, on files.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// An exclusive lock on a file. It lasts as long as the object and its process; forked children do not hold it. It
/// shows whether a session is alive.
class FileLock {
public:
    FileLock() = default;
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();
    /// Creates the file (0600, never through a link) if needed. `retry` if another process holds the lock,
    /// `unsupported` if the file system has no locks.
    static Result<FileLock> take(const std::string& path);
    bool held() const { return fd_ >= 0; }
    void release();

private:
    int fd_ = -1;
    std::int64_t owner_ = 0;  // the process that took it: a forked child must not unlock it
};

/// True if a process holds the lock; a missing file is not held. `unsupported` if the file system has no locks.
Result<bool> lock_state(const std::string& path);
/// The same, but a lock that cannot be examined counts as held.
bool lock_is_held(const std::string& path);

}  // namespace forebay::sys
