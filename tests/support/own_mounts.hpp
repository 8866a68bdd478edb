// Small file systems of a test's own, in a mount namespace that ends with the process. Needs root or a user namespace.

#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sys/machine.hpp"

namespace forebay::test {

/// To be called before the process has threads. False: this machine does not allow it.
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

/// A tmpfs at `path`, which is created; unmounted at the end.
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
    /// Takes all the room but `left_bytes`; empty() gives it back.
    void fill(std::uint64_t left_bytes) const {
        const auto free = sys::free_bytes(path_).value();
        std::ofstream(ballast()) << std::string(free > left_bytes ? free - left_bytes : 0, 'x');
    }
    void empty() const { std::filesystem::remove(ballast()); }

private:
    std::string ballast() const { return path_ + "/ballast"; }
    std::string path_;
};

}  // namespace forebay::test
