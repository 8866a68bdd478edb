// Small private file systems in a mount namespace that ends with the process. Needs root or a user namespace.

#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/sys/machine.hpp"

namespace forebay::test {

/// Call it before the process starts threads. False if this machine does not allow it.
inline bool enter_own_mounts() {
    const auto uid = ::geteuid();
    const auto gid = ::getegid();
    if (::unshare(CLONE_NEWNS) != 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
        std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
    }
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// A tmpfs at `path`. The constructor creates `path`, the destructor unmounts.
class SmallTmpfs {
public:
    SmallTmpfs(const std::string& path, const std::string& size) : path_(path) {
        std::filesystem::create_directory(path);
        if (::mount("none", path.c_str(), "tmpfs", 0, ("mode=0700,size=" + size).c_str()) != 0)
            throw std::runtime_error("cannot mount a tmpfs at " + path);
    }
    ~SmallTmpfs() { ::umount2(path_.c_str(), MNT_DETACH); }
    SmallTmpfs(const SmallTmpfs&) = delete;
    SmallTmpfs& operator=(const SmallTmpfs&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    /// Fills the file system up to `left_bytes`. empty() frees the space.
    void fill(std::uint64_t left_bytes) const {
        const auto free = sys::free_bytes(path_).value();
        std::ofstream(ballast()) << std::string(free > left_bytes ? free - left_bytes : 0, 'x');
    }
    void empty() const { std::filesystem::remove(ballast()); }

private:
    std::string ballast() const { return path_ + "/ballast"; }
    std::string path_;
};

/// An ext4 in a file, mounted at `path`. While it is frozen, a writer hangs in the kernel and cannot be killed, as on a
/// mount with a dead server. Needs root, loop devices and mkfs.ext4.
class FreezableDisk {
public:
    /// nullptr if this machine does not allow it.
    static std::unique_ptr<FreezableDisk> make(const std::string& path, const std::string& size) {
        const auto image = path + ".ext4";
        std::filesystem::create_directory(path);
        const auto command = "truncate -s " + size + " " + image + " && mkfs.ext4 -q " + image + " && mount -o loop " +
                             image + " " + path + " 2>/dev/null";
        if (::geteuid() != 0 || std::system(command.c_str()) != 0) return nullptr;
        return std::unique_ptr<FreezableDisk>(new FreezableDisk(path));
    }
    ~FreezableDisk() {
        thaw();
        ::umount2(path_.c_str(), MNT_DETACH);
    }
    FreezableDisk(const FreezableDisk&) = delete;
    FreezableDisk& operator=(const FreezableDisk&) = delete;

    void freeze() {
        // A disk that stays frozen would hang this test and the machine's shutdown, so a child process thaws it in the
        // end.
        guard_ = ::fork();
        if (guard_ == 0) {
            ::sleep(60);
            ioctl(FITHAW);
            ::_exit(0);
        }
        if (guard_ < 0 || !ioctl(FIFREEZE)) throw std::runtime_error("cannot freeze " + path_);
    }
    void thaw() {
        if (guard_ < 0) return;
        ioctl(FITHAW);
        ::kill(guard_, SIGKILL);
        ::waitpid(std::exchange(guard_, -1), nullptr, 0);
    }

private:
    explicit FreezableDisk(std::string path) : path_(std::move(path)) {}
    bool ioctl(unsigned long request) const {
        const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        const bool done = fd >= 0 && ::ioctl(fd, request, 0) == 0;
        if (fd >= 0) ::close(fd);
        return done;
    }
    std::string path_;
    pid_t guard_ = -1;
};

}  // namespace forebay::test
