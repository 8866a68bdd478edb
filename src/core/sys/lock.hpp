// Locks between processes, on files.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// An exclusive lock on a file, held as long as the object and its process live, and no longer by what that process has
/// forked: how a dead session is told from a living one.
class FileLock {
public:
    FileLock() = default;
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();
    /// Creates the file (0600, never through a link) if need be. `retry` when another process holds the lock,
    /// `unsupported` where the file system has no locks.
    static Result<FileLock> take(const std::string& path);
    bool held() const { return fd_ >= 0; }
    void release();

private:
    int fd_ = -1;
    std::int64_t owner_ = 0;  // the process that took it; a forked child must not unlock its parent's
};

/// Whether some process holds the lock; a missing file is not held. `unsupported` where the file system has no locks.
Result<bool> lock_state(const std::string& path);
/// The same; one that cannot be looked at counts as held.
bool lock_is_held(const std::string& path);

}  // namespace forebay::sys
