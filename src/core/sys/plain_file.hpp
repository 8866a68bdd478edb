// Files by the bare calls of the system, one for each: for benchmarks that compare with programs of others, which make
// just these. Nothing is reserved, written back early, looked at or synced that is not asked for; sys::Store does all
// of that. Names are followed as the system follows them.
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
        update,  // O_RDWR, of a file that is there
        create,  // O_CREAT | O_RDWR, 0664: new, or as it is
        stream,  // O_WRONLY: a pipe whose reader goes is told to its writer
    };
    static Result<PlainFile> open(const std::string& path, Use use);
    /// A new file of this user alone (0600); no link is followed. One that a killed process of this user has left there
    /// is removed first. `refused` where another process has opened it in this way, and where anything else is there.
    /// Whoever gets it may rename or remove it as long as it is open.
    static Result<PlainFile> create_alone(const std::string& path);
    /// A new file of this user alone in `directory`, without a name: it goes when it is closed, and with the process.
    static Result<PlainFile> open_unnamed(const std::string& directory);
    PlainFile(PlainFile&& other) noexcept;
    PlainFile& operator=(PlainFile&&) = delete;
    ~PlainFile();

    /// All of `bytes`: pwrite and pread, which are called again for what they have left. A file that ends before is
    /// `corrupt`.
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);
    /// A pipe or a terminal is not: it takes bytes in their order, and has no size and no sync.
    bool is_regular() const;
    /// fchown, as far as this user may, and fchmod: owner, group and permissions become those of the file at `path`;
    /// where there is none the permissions are what the umask leaves of 0666. A group that cannot be given gets no more
    /// than what all others have.
    Result<> take_permissions(const std::string& path);
    /// ftruncate.
    Result<> set_size(std::uint64_t bytes);
    /// Maps so many bytes of the file from its beginning, shared and writable; the file is that long already. What
    /// cannot be stored shows at sync() (msync), or as SIGBUS where the file system has no room: reserve() before.
    Result<std::span<std::byte>> map(std::uint64_t bytes);
    /// posix_fallocate.
    Result<> reserve(std::uint64_t offset, std::uint64_t bytes);
    /// msync of what is mapped, and fsync.
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

/// mkdir (0777), rmdir, unlink and stat, one call each; what is not as they want it is an error.
Result<> plain_make_directory(const std::string& path);
Result<> plain_remove_directory(const std::string& path);
Result<> plain_remove(const std::string& path);
Result<> plain_stat(const std::string& path);

}  // namespace forebay::sys
