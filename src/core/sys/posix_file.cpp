#include "core/sys/posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/sys/posix_file_size.hpp"

namespace forebay::sys {

namespace {

// Smaller writes are headers and texts; a sync follows them soon.
constexpr std::uint64_t write_back_bytes_min = 1u << 20;
// Largest piece of a read past the page cache through a separate buffer: heads and pages are smaller.
constexpr std::uint64_t read_by_pages_bytes = 1u << 20;

bool direct_aligned(std::uint64_t offset, const void* address, std::uint64_t bytes) {
    return ((offset | reinterpret_cast<std::uintptr_t>(address) | bytes) & (limits::page_bytes - 1)) == 0;
}

std::string piece_of(const char* call, std::uint64_t offset, std::uint64_t bytes) {
    return fmt::format("{} of {} bytes at {}", call, bytes, offset);
}

}  // namespace

Result<> PosixFile::go_on_buffered() {
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd_.get(), F_SETFL, flags & ~O_DIRECT) != 0)
        return posix_error("fcntl to leave direct writing", path_, errno);
    direct_.store(false, std::memory_order_relaxed);
    if (from_storage_) forget_cached();
    return {};
}

Result<> PosixFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (direct() && !direct_aligned(offset, bytes.data(), bytes.size()))
        return Error{ErrorKind::broken,
                     fmt::format("direct write of {} bytes at {} from address {}: {}: not multiples of {}",
                                 bytes.size(), offset, fmt::ptr(bytes.data()), path_, limits::page_bytes)};
    // The kernel answers a write beyond the limit with a signal that ends the process.
    FB_TRY(check_file_size(path_, offset + bytes.size()));
    std::uint64_t done = 0;
    while (done < bytes.size()) {
        // Read before the call: another thread may leave direct writing during this pwrite.
        const bool was_direct = direct();
        const auto rest = bytes.subspan(done);
        const ssize_t wrote = ::pwrite(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
        if (wrote < 0) {
            if (errno == EINTR) continue;
            if (errno == EINVAL && was_direct) {  // FUSE and similar: O_DIRECT opens, but does not work
                FB_TRY(go_on_buffered());
                continue;
            }
            return descriptor_error(piece_of("pwrite", offset + done, rest.size()), path_, errno);
        }
        if (wrote == 0)
            return posix_error(piece_of("pwrite (which wrote nothing)", offset + done, rest.size()), path_, EIO);
        auto step = static_cast<std::uint64_t>(wrote);
        if (was_direct && step < rest.size()) {  // the next direct write must start at a page
            step = round_down(step, limits::page_bytes);
            if (step == 0) FB_TRY(go_on_buffered());
        }
        done += step;
    }
    start_write_back(offset, bytes.size());
    return {};
}

// A missing layout or an error gives an empty map: only a report depends on it.
StripeMap PosixFile::stripes() {
    std::array<std::byte, 65536> attribute{};  // the largest size of an attribute
    const auto bytes = ::fgetxattr(fd_.get(), "lustre.lov", attribute.data(), attribute.size());
    if (bytes <= 0) return {};
    return StripeMap::of_lustre(std::span(attribute).first(static_cast<std::size_t>(bytes)));
}

void PosixFile::start_write_back(std::uint64_t offset, std::uint64_t bytes) {
    // Measured on ext4: 1.1 to 1.5 times the rate of leaving it all to fdatasync, and the page cache holds less at a
    // time. It is a hint: a file system without it (FUSE) writes back as it likes.
    if (!direct() && bytes >= write_back_bytes_min)
        (void)::sync_file_range(fd_.get(), static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                                SYNC_FILE_RANGE_WRITE);
}

Result<std::uint64_t> PosixFile::read_up_to_end(std::uint64_t offset, std::span<std::byte> bytes) {
    std::uint64_t done = 0;
    while (done < bytes.size()) {
        const auto rest = bytes.subspan(done);
        const ssize_t got = ::pread(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
        if (got < 0) {
            if (errno == EINTR) continue;
            if (errno == EINVAL && direct()) {
                FB_TRY(go_on_buffered());
                continue;
            }
            return descriptor_error(piece_of("pread", offset + done, rest.size()), path_, errno);
        }
        done += static_cast<std::uint64_t>(got);
        if (got == 0) break;
        if (!direct() || done % limits::page_bytes == 0) continue;
        // Past the page cache the next call would begin within a page. Usually the file ends there.
        FB_TRY_ASSIGN(file_bytes, size());
        if (offset + done >= file_bytes) break;
    }
    return done;
}

// Reads whole pages into page-aligned memory, as reads past the page cache require.
Result<std::uint64_t> PosixFile::read_by_pages(std::uint64_t offset, std::span<std::byte> bytes) {
    thread_local PageBuffer room;
    std::uint64_t done = 0;
    while (done < bytes.size()) {
        const auto at = offset + done, first = round_down(at, limits::page_bytes);
        const auto end = std::min(round_up(offset + bytes.size(), limits::page_bytes), first + read_by_pages_bytes);
        const auto pages = room.take(end - first);
        FB_TRY_ASSIGN(got, read_up_to_end(first, pages));
        const auto there = got > at - first ? std::min(got - (at - first), bytes.size() - done) : 0;
        std::ranges::copy(pages.subspan(at - first, there), bytes.begin() + static_cast<std::ptrdiff_t>(done));
        done += there;
        if (got < pages.size()) break;
    }
    return done;
}

Result<> PosixFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
    const bool by_pages = from_storage_ && direct() && !direct_aligned(offset, bytes.data(), bytes.size());
    // Reads through the cache: drop old pages before the read, and the pages of this read after it.
    if (from_storage_ && !direct()) forget_cached();
    FB_TRY_ASSIGN(done, by_pages ? read_by_pages(offset, bytes) : read_up_to_end(offset, bytes));
    if (from_storage_ && !direct()) forget_cached();
    if (done == bytes.size()) return {};
    return Error{ErrorKind::corrupt, fmt::format("{} is truncated: it ends at {}, but bytes {} to {} are needed", path_,
                                                 offset + done, offset, offset + bytes.size() - 1)};
}

// Drops the whole file: a page may be part of a larger piece of the cache, which is dropped as a whole. It is a hint:
// dirty pages stay, but this machine wrote them itself.
void PosixFile::forget_cached() const { (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }

Result<std::uint64_t> PosixFile::size() {
    struct stat about {};
    if (::fstat(fd_.get(), &about) != 0) return descriptor_error("fstat", path_, errno);
    return static_cast<std::uint64_t>(about.st_size);
}

Result<> PosixFile::truncate(std::uint64_t size) {
    FB_TRY_ASSIGN(now, this->size());
    if (size > now) FB_TRY(check_file_size(path_, size));
    while (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0)
        if (errno != EINTR) return descriptor_error(fmt::format("ftruncate to {} bytes", size), path_, errno);
    return {};
}

// fallocate(2), not posix_fallocate(3): if the file system lacks the call, glibc would write to every page.
void PosixFile::reserve(std::uint64_t offset, std::uint64_t bytes) {
    if (direct() && check_file_size(path_, offset + bytes))
        (void)::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

Result<> PosixFile::sync() {
    if (const int before = sync_failed_.load()) {
        Error error = posix_error("fdatasync (failed before)", path_, before);
        error.what += "; bytes may be lost, so write the file again";
        return error;
    }
    while (::fdatasync(fd_.get()) != 0) {
        if (errno == EINTR) continue;
        // The kernel reports a lost write-back only once: later syncs must fail too.
        sync_failed_.store(errno);
        return descriptor_error("fdatasync", path_, errno);
    }
    // Nobody reads the file back soon, and its pages would push out the simulation's. A failure is harmless.
    if (!direct()) forget_cached();
    return {};
}

Result<> PosixFile::close() {
    if (const int number = fd_.close_now()) return posix_error("close", path_, number);
    return {};
}

}  // namespace forebay::sys
