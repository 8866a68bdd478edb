// Files and directories that belong only to this user.

#include <sys/stat.h>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_file_size.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

Error refusal(const std::string& path, const std::string& reason) {
    return {ErrorKind::refused, fmt::format("{} is not safe to use: {}. Nothing was changed", path, reason), "",
            "remove it, or choose another place"};
}

Result<> write_and_sync(const Fd& fd, const std::string& path, const std::string& text) {
    const auto written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 || static_cast<std::size_t>(written) != text.size()) return posix_error("write", path, errno);
    if (::fsync(fd.get()) != 0) return posix_error("fsync", path, errno);
    return {};
}

}  // namespace

Result<Fd> open_private(const std::string& path, int flags) {
    // O_NONBLOCK: a FIFO under this name must not hang the open; regular files ignore it.
    Fd fd(open_no_intr(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!fd.valid()) {
        if (errno == ELOOP) return refusal(path, "it is a symbolic link, and links are not followed here");
        return posix_error("open", path, errno);
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return posix_error("fstat", path, errno);
    if (!S_ISREG(about.st_mode)) return refusal(path, "it is not a regular file");
    if (about.st_uid != ::geteuid())
        return refusal(path, fmt::format("it belongs to user {}, not to {}", about.st_uid, ::geteuid()));
    if (about.st_nlink > 1) return refusal(path, fmt::format("it has {} names (hard links)", about.st_nlink));
    if ((about.st_mode & 077) != 0)
        return refusal(path, fmt::format("its mode {:04o} gives other users access", about.st_mode & 07777));
    return fd;
}

Result<> make_private_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return posix_error("mkdir", path, errno);
    struct stat about {};
    // lstat, also after our own mkdir: the owner of the parent may have swapped the name.
    if (::lstat(path.c_str(), &about) != 0) return posix_error("lstat", path, errno);
    if (S_ISLNK(about.st_mode)) return refusal(path, "it is a symbolic link, and links are not followed here");
    if (!S_ISDIR(about.st_mode)) return refusal(path, "it is not a directory");
    if (about.st_uid != ::geteuid())
        return refusal(path, fmt::format("it belongs to user {}, not to {}", about.st_uid, ::geteuid()));
    if ((about.st_mode & 077) != 0)
        return refusal(
            path, fmt::format("its mode {:04o} gives other users access, and 0700 is needed", about.st_mode & 07777));
    return {};
}

Result<std::string> read_private(const std::string& path) {
    constexpr std::size_t bytes_max = 64u << 10;
    FB_TRY_ASSIGN(fd, open_private(path, O_RDONLY));
    std::string text(bytes_max + 1, '\0');
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const auto got = ::read(fd.get(), text.data() + bytes, text.size() - bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return posix_error("read", path, errno);
        if (got == 0) break;
        bytes += static_cast<std::size_t>(got);
    }
    if (bytes > bytes_max) return Error{ErrorKind::corrupt, fmt::format("{} has more than {} bytes", path, bytes_max)};
    text.resize(bytes);
    return text;
}

Result<bool> create_private(const std::string& path, const std::string& text) {
    const Fd fd(open_no_intr(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (!fd.valid() && errno == EEXIST) return false;
    if (!fd.valid()) return posix_error("open", path, errno);
    auto written = write_and_sync(fd, path, text);
    // A partial text must not keep the name.
    if (!written) ::unlink(path.c_str());
    if (!written) return written.error();
    return true;
}

Result<> write_private(const std::string& path, const std::string& text) {
    const auto temporary = fmt::format("{}.{}-{:016x}.tmp", path, process_id(), random_u64());
    const auto write = [&]() -> Result<> {
        FB_TRY(check_file_size(path, text.size()));
        FB_TRY_ASSIGN(fd, open_private(temporary, O_WRONLY | O_CREAT | O_EXCL));
        FB_TRY(write_and_sync(fd, path, text));
        // The rename comes last: a reader of the name finds the old text or the whole new text.
        if (::rename(temporary.c_str(), path.c_str()) != 0) return posix_error("rename", path, errno);
        return {};
    };
    auto written = write();
    if (!written) ::unlink(temporary.c_str());
    return written;
}

}  // namespace forebay::sys
