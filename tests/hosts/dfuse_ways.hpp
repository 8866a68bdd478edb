// How DAOS differs from POSIX, for striped_fs: a rename sets the modification time, and may be cut, so that one entry
// has two names. A removal by either name removes its bytes. Bytes written into a removed file never come back. The
// status of a file that was just opened may be ENOTDIR. The first status after a rename has the time before it.
//
// A test asks for a fault by an attribute of the mount. "user.fake.cut" has a part of a name: the next rename to such a
// name is cut, and its client dies. "user.fake.enotdir" has a part of a name: the first status after an open fails.
//
// The second name of a cut rename is a symbolic link of the directory below, which is shown as its target.

#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace dfuse {

class Ways {
public:
    /// True if the attribute is one of those of tests.
    bool take_wish(const char* name, const std::string& value) {
        const std::lock_guard lock(alone_);
        if (std::strcmp(name, "user.fake.cut") == 0) return cut_ = value, true;
        if (std::strcmp(name, "user.fake.enotdir") == 0) return enotdir_ = value, true;
        return false;
    }

    int status(const std::string& path, struct stat* about) {
        if (::lstat(path.c_str(), about) != 0) return -errno;
        const std::lock_guard lock(alone_);
        const auto second = second_names_.find(about->st_ino);
        if (S_ISLNK(about->st_mode) && second != second_names_.end() && ::stat(path.c_str(), about) != 0) {
            about->st_mode = second->second;  // its bytes were removed by its other name
            about->st_size = 0;
        }
        if (const auto before = renamed_.find(about->st_ino); before != renamed_.end()) {
            about->st_mtim = before->second;
            renamed_.erase(before);
        }
        if (opened_ != path || looks_left_-- > 0) return 0;
        opened_.clear();
        return -ENOTDIR;
    }

    /// `own_looks`: libfuse asks for the status so often before the client does.
    void opened(const std::string& path, int own_looks) {
        const std::lock_guard lock(alone_);
        if (enotdir_.empty() || path.find(enotdir_) == std::string::npos) return;
        opened_ = path;
        looks_left_ = own_looks;
        enotdir_.clear();
    }

    int rename(const std::string& from, const std::string& to, unsigned flags) {
        struct stat old {
        }, there{};
        if (status(from, &old) != 0) return -ENOENT;
        const bool is_there = status(to, &there) == 0;
        if (flags != 0 && (flags != RENAME_NOREPLACE || is_there)) return is_there ? -EEXIST : -EINVAL;
        if (is_there && there.st_ino == old.st_ino) return 0;  // as the kernel does for one inode
        if (is_there && is_second(to) && remove(to, S_ISDIR(there.st_mode)) != 0) return -ENOTEMPTY;
        if (::rename(from.c_str(), to.c_str()) != 0) return -errno;
        if (!S_ISLNK(old.st_mode)) {
            const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
            ::utimensat(AT_FDCWD, to.c_str(), now, AT_SYMLINK_NOFOLLOW);
        }
        const std::lock_guard lock(alone_);
        renamed_[old.st_ino] = old.st_mtim;
        const auto name = to.substr(to.rfind('/') + 1);
        if (cut_.empty() || name.find(cut_) == std::string::npos) return 0;
        cut_.clear();
        struct stat link {};
        if (::symlink(name.c_str(), from.c_str()) != 0 || ::lstat(from.c_str(), &link) != 0) return -errno;
        second_names_[link.st_ino] = old.st_mode;
        return -EIO;
    }

    /// Of a file or an empty directory, by either of its names.
    int remove(const std::string& path, bool is_directory) {
        if (!is_second(path)) {
            note_removal(path);
            return (is_directory ? ::rmdir(path.c_str()) : ::unlink(path.c_str())) == 0 ? 0 : -errno;
        }
        char text[4096];
        const auto bytes = ::readlink(path.c_str(), text, sizeof text);
        const auto target = path.substr(0, path.rfind('/') + 1) + std::string(text, bytes < 0 ? 0 : bytes);
        if (is_directory && ::rmdir(target.c_str()) != 0 && errno == ENOTEMPTY) return -ENOTEMPTY;
        if (!is_directory) static_cast<void>(::truncate(target.c_str(), 0));
        return ::unlink(path.c_str()) == 0 ? 0 : -errno;
    }

    bool is_second(const std::string& path) {
        struct stat about {};
        if (::lstat(path.c_str(), &about) != 0 || !S_ISLNK(about.st_mode)) return false;
        const std::lock_guard lock(alone_);
        return second_names_.contains(about.st_ino);
    }

    /// The bytes of files that were removed while they were open, and written or kept since.
    int room(const std::string& path, struct statvfs* about) {
        if (::statvfs(path.c_str(), about) != 0) return -errno;
        const std::lock_guard lock(alone_);
        about->f_bavail = about->f_bfree = (std::uint64_t{1} << 40) / about->f_frsize - lost_bytes_ / about->f_frsize;
        return 0;
    }

private:
    // libfuse renames an open file to a hidden name when it is removed, and removes it when it is closed.
    void note_removal(const std::string& path) {
        struct stat about {};
        if (path.find("/.fuse_hidden") == std::string::npos || ::lstat(path.c_str(), &about) != 0) return;
        const std::lock_guard lock(alone_);
        lost_bytes_ += static_cast<std::uint64_t>(about.st_size);
    }

    std::mutex alone_;
    std::string cut_, enotdir_, opened_;
    int looks_left_ = 0;
    std::map<ino_t, mode_t> second_names_;  // links below that stand for entries
    std::map<ino_t, timespec> renamed_;     // entries that were not looked at since
    std::uint64_t lost_bytes_ = 0;
};

inline Ways ways;

}  // namespace dfuse
