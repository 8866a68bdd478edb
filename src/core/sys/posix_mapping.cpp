#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_file_size.hpp"
#include "core/sys/posix_mounts.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace forebay::sys {

namespace {

// tmpfs gives back the pages of an interrupted fallocate and fails with EINTR. In one piece, a large reservation would
// never end under a profiler's timer.
constexpr std::uint64_t reserve_step_bytes = 64u << 20;

int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t step = reserve_step_bytes;
    for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t now = std::min(step, bytes - done);
        const int number = ::posix_fallocate(fd, static_cast<off_t>(offset + done), static_cast<off_t>(now));
        if (number == EINTR) {
            step = std::max(step / 2, limits::page_bytes);
            continue;
        }
        if (number != 0) return number;
        done += now;
    }
    return 0;
}

Error no_room(const std::string& path, std::uint64_t bytes, std::uint64_t missing_bytes, const std::string& place,
              std::uint64_t free) {
    return {ErrorKind::full,
            fmt::format("cannot reserve {} ({} bytes) for {}: {} more needed, {} free {}. Nothing was reserved",
                        show_bytes(bytes), bytes, path, show_bytes(missing_bytes), show_bytes(free), place),
            "", "free some memory there, or choose another staging directory"};
}

/// Gives each byte of the file below `bytes` its page. posix_fallocate, not ftruncate: tmpfs allocates pages at first
/// touch, so on a full node a rank's copy would end in SIGBUS. No caller can turn that into an Error.
Result<> reserve(int fd, const std::string& path, std::uint64_t bytes) {
    struct stat about {};
    if (::fstat(fd, &about) != 0) return posix_error("fstat", path, errno);
    const auto size_before = static_cast<std::uint64_t>(about.st_size);
    if (bytes > size_before) FB_TRY(check_file_size(path, bytes));
    // A reused file has pages already: only the rest needs memory.
    const auto held = static_cast<std::uint64_t>(about.st_blocks) * 512;
    const std::uint64_t more = bytes > held ? bytes - held : 0;
    // A tmpfs may be as large as all memory. Then not the tmpfs, but the out-of-memory killer would end the growth.
    if (more > 0 && on_tmpfs(fd))
        if (const auto memory = memory_available(); memory && *memory < more)
            return no_room(path, bytes, more, "in the memory of this machine or job", *memory);
    const int number = allocate(fd, 0, bytes);
    if (number == 0) return {};
    if (size_before < bytes) (void)::ftruncate(fd, about.st_size);  // gives the growth back
    if (number != ENOSPC && number != EDQUOT)
        return posix_error(fmt::format("posix_fallocate of {} bytes", bytes), path, number);
    const auto free = free_bytes(directory_of(path));
    return no_room(path, bytes, more, "on its file system", free ? *free : 0);
}

Result<std::byte*> map(int fd, const std::string& path, std::uint64_t bytes, bool writable, int sharing) {
    void* data = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, sharing, fd, 0);
    if (data == MAP_FAILED) return posix_error(fmt::format("mmap of {} bytes", bytes), path, errno);
    // Helps on mounts with huge=advise; other mounts ignore it.
    (void)::madvise(data, bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(data);
}

/// Makes each page present and writable without changing it, also while other processes write. It compares and swaps a
/// byte with itself: a plain store of the old value could undo their write.
void touch(std::byte* begin, std::byte* end) {
    for (std::byte* page = begin; page < end; page += limits::page_bytes) {
        std::atomic_ref<std::byte> byte(*page);
        std::byte seen = byte.load(std::memory_order_relaxed);
        (void)byte.compare_exchange_strong(seen, seen, std::memory_order_relaxed);
    }
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), writable_(other.writable_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        Mapping gone(std::move(*this));
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        writable_ = other.writable_;
    }
    return *this;
}

Mapping::~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

Result<Mapping> Mapping::create(const std::string& path, std::uint64_t bytes) {
    if (bytes == 0) return Error{ErrorKind::broken, "map " + path + ": 0 bytes asked for"};
    struct stat about {};
    const bool is_new = ::lstat(path.c_str(), &about) != 0;
    FB_TRY_ASSIGN(fd, open_private(path, O_RDWR | O_CREAT));
    const auto reserved = reserve(fd.get(), path, bytes);
    if (!reserved) {
        // The call made this file, so an error must not leave it.
        if (is_new) (void)::unlink(path.c_str());
        return reserved.error();
    }
    FB_TRY_ASSIGN(data, map(fd.get(), path, bytes, true, MAP_SHARED));
    Mapping mapping;
    mapping.data_ = data;
    mapping.size_ = bytes;
    mapping.writable_ = true;
    return mapping;
}

Result<Mapping> Mapping::open(const std::string& path, bool writable) {
    return open_as(path, writable ? O_RDWR : O_RDONLY, writable, MAP_SHARED);
}

Result<Mapping> Mapping::open_copy(const std::string& path) { return open_as(path, O_RDONLY, true, MAP_PRIVATE); }

Result<Mapping> Mapping::open_as(const std::string& path, int access, bool writable, int sharing) {
    FB_TRY_ASSIGN(fd, open_private(path, access));
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return posix_error("fstat", path, errno);
    if (about.st_size == 0) return Error{ErrorKind::corrupt, "map " + path + ": the file is empty"};
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    FB_TRY_ASSIGN(data, map(fd.get(), path, bytes, writable, sharing));
    Mapping mapping;
    mapping.data_ = data;
    mapping.size_ = bytes;
    mapping.writable_ = writable;
    return mapping;
}

Result<> Mapping::prefault(std::uint64_t offset, std::uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset)
        return Error{ErrorKind::broken,
                     fmt::format("prefault of {} bytes at {}: the mapping has {} bytes", bytes, offset, size_)};
    if (bytes == 0) return {};
    std::byte* const begin = data_ + round_down(offset, limits::page_bytes);
    std::byte* const end = data_ + std::min<std::uint64_t>(round_up(offset + bytes, limits::page_bytes), size_);
    const int advice = writable_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    while (::madvise(begin, static_cast<std::size_t>(end - begin), advice) != 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        if (errno == EINVAL) {  // Linux before 5.14; reads fault neighbours in anyway
            if (writable_) touch(begin, end);
            return {};
        }
        return posix_error(fmt::format("madvise(MADV_POPULATE) of {} bytes at {}", bytes, offset), "the mapping",
                           errno);
    }
    return {};
}

}  // namespace forebay::sys
