// The bytes of files in trees.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/sys/posix_tree_entry.hpp"

namespace forebay::sys {

namespace {

class PosixTreeFile final : public EntryOver<OpenFile> {
public:
    using EntryOver::EntryOver;

    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override;
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
    Result<> resize(std::uint64_t bytes) override {
        if (::ftruncate(fd(), static_cast<off_t>(bytes)) != 0) return posix_error("ftruncate", name(), errno);
        return {};
    }
    Result<std::optional<ByteStretch>> next_data(std::uint64_t offset) override;
    Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) override;
    Result<> sync() override {
        if (::fdatasync(fd()) != 0) return posix_error("fdatasync", name(), errno);
        return {};
    }
    void forget_cached() override { ::posix_fadvise(fd(), 0, 0, POSIX_FADV_DONTNEED); }
};

Result<std::uint64_t> PosixTreeFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
    std::uint64_t done = 0;
    while (done < bytes.size()) {
        const auto got = ::pread(fd(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return posix_error("pread at " + std::to_string(offset + done), name(), errno);
        if (got == 0) break;
        done += static_cast<std::uint64_t>(got);
    }
    return done;
}

Result<> PosixTreeFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto wrote = ::pwrite(fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return posix_error("pwrite at " + std::to_string(offset), name(), wrote == 0 ? EIO : errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
        offset += static_cast<std::uint64_t>(wrote);
    }
    return {};
}

Result<std::optional<ByteStretch>> PosixTreeFile::next_data(std::uint64_t offset) {
    const auto begin = ::lseek(fd(), static_cast<off_t>(offset), SEEK_DATA);
    if (begin < 0 && errno == ENXIO) return std::optional<ByteStretch>();
    if (begin < 0) return posix_error("lseek for data", name(), errno);
    // Each file ends with a virtual hole: none is found only if the file was cut in between.
    const auto end = ::lseek(fd(), begin, SEEK_HOLE);
    if (end < 0 && errno == ENXIO) return std::optional<ByteStretch>();
    if (end < 0) return posix_error("lseek for a hole", name(), errno);
    return std::optional(
        ByteStretch{.begin = static_cast<std::uint64_t>(begin), .end = static_cast<std::uint64_t>(end)});
}

Result<std::uint64_t> PosixTreeFile::copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) {
    const auto* other = dynamic_cast<PosixTreeFile*>(&source);
    if (other == nullptr) return source.copy_to(*this, offset, bytes);
    auto from = static_cast<off_t>(offset), to = from;
    const auto copied = ::copy_file_range(other->fd(), &from, fd(), &to, bytes, 0);
    if (copied >= 0) return static_cast<std::uint64_t>(copied);
    // EXDEV and EINVAL: two kinds of file systems, or a file that cannot be spliced.
    const bool cannot = errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM;
    auto error = posix_error("copy_file_range at " + std::to_string(offset), name(), errno);
    if (cannot) error.kind = ErrorKind::unsupported;
    return error;
}

}  // namespace

std::unique_ptr<OpenFile> open_file_over(PosixEntry entry) { return std::make_unique<PosixTreeFile>(std::move(entry)); }

}  // namespace forebay::sys
