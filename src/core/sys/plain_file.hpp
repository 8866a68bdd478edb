// Files by bare system calls, one call for each function: for benchmarks that compare with programs that make just
// these calls. It does not reserve, write back, look or sync unless you ask; sys::Store does all of that. Links are
// followed as by the system.
//
// Threads: one at a time. Owner: the object closes and unmaps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

class PlainFile {
public:
    enum class Use {
        read,    // O_RDONLY
        update,  // O_RDWR, an existing file
        create,  // O_CREAT | O_RDWR, 0664: a new file, or an existing file unchanged
        stream,  // O_WRONLY: the writer of a pipe gets an error if the reader has gone
    };
    static Result<PlainFile> open(const std::string& path, Use use);
    /// Creates a private file (0600); follows no link. A leftover of a killed process of this user is removed first.
    /// `refused` if another process has it open by this call, or anything else is there. The caller may rename or
    /// remove the file while it is open.
    static Result<PlainFile> create_alone(const std::string& path);
    /// Creates a private nameless file in `directory`. It is gone when it is closed or the process ends.
    static Result<PlainFile> open_unnamed(const std::string& directory);
    PlainFile(PlainFile&& other) noexcept;
    PlainFile& operator=(PlainFile&&) = delete;
    ~PlainFile();

    /// Writes or reads all of `bytes`: pwrite and pread are repeated for the rest. `corrupt` if the file ends before.
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);
    /// False for a pipe or a terminal: it takes bytes in their order, and has no size and no sync.
    bool is_regular() const;
    /// fchown, as far as this user may, and fchmod: takes owner, group and permissions of the file at `path`. If there
    /// is no such file, the permissions are 0666 less the umask. If the group cannot be set, it gets no more rights
    /// than all other users.
    Result<> take_permissions(const std::string& path);
    /// ftruncate.
    Result<> set_size(std::uint64_t bytes);
    /// Maps the first `bytes` of the file, shared and writable; the file must be that long already. A lack of space
    /// shows at sync() (msync) or as SIGBUS, so call reserve() before.
    Result<std::span<std::byte>> map(std::uint64_t bytes);
    /// posix_fallocate.
    Result<> reserve(std::uint64_t offset, std::uint64_t bytes);
    /// msync of the mapping, and fsync.
    Result<> sync();
    /// Asks the kernel to forget the clean pages of the file (posix_fadvise).
    Result<> forget_cached();
    /// munmap, if mapped, and close.
    Result<> close();

private:
    PlainFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    int fd_;
    std::string path_;
    std::span<std::byte> mapped_;
};

/// mkdir (0777), rmdir, unlink and stat: one call each, and each failure of it is an error.
Result<> plain_make_directory(const std::string& path);
Result<> plain_remove_directory(const std::string& path);
Result<> plain_remove(const std::string& path);
Result<> plain_stat(const std::string& path);

}  // namespace forebay::sys
