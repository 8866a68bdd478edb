// Files and directories that belong to this user alone.

#include <sys/stat.h>

#include <fmt/format.h>

#include "sys/machine.hpp"
#include "sys/posix_fd.hpp"

namespace forebay::sys {

namespace {

Error refusal(const std::string& path, const std::string& reason) {
    return {ErrorKind::refused, fmt::format("{} is not safe to use: {}. Nothing was changed. Next: remove it, or "
                                            "choose another place",
                                            path, reason)};
}

}  // namespace

Result<Fd> open_private(const std::string& path, int flags) {
    // O_NONBLOCK: a FIFO that somebody put there must not hang the open; it means nothing for regular files.
    Fd fd(open_no_intr(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!fd.valid()) {
        if (errno == ELOOP) return refusal(path, "it is a symbolic link, and links are never followed here");
        return posix_error("open", path, errno);
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return posix_error("fstat", path, errno);
    if (!S_ISREG(about.st_mode)) return refusal(path, "it is not a regular file");
    if (about.st_uid != ::geteuid())
        return refusal(path, fmt::format("it belongs to user {}, not to {}", about.st_uid, ::geteuid()));
    if (about.st_nlink > 1) return refusal(path, fmt::format("it has {} names (hard links)", about.st_nlink));
    if ((about.st_mode & 077) != 0)
        return refusal(path, fmt::format("its mode {:04o} lets others in", about.st_mode & 07777));
    return fd;
}

Result<> make_private_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return posix_error("mkdir", path, errno);
    struct stat about {};
    // lstat, also after our own mkdir: whoever owns the parent may have swapped the name.
    if (::lstat(path.c_str(), &about) != 0) return posix_error("lstat", path, errno);
    if (S_ISLNK(about.st_mode)) return refusal(path, "it is a symbolic link, and links are never followed here");
    if (!S_ISDIR(about.st_mode)) return refusal(path, "it is not a directory");
    if (about.st_uid != ::geteuid())
        return refusal(path, fmt::format("it belongs to user {}, not to {}", about.st_uid, ::geteuid()));
    if ((about.st_mode & 077) != 0)
        return refusal(path, fmt::format("its mode {:04o} lets others in; 0700 is needed", about.st_mode & 07777));
    return {};
}

}  // namespace forebay::sys
